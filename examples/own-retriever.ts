// Answers from passages that a function returns, without a collection: npx node examples/own-retriever.ts
import { createAgent, type RetrieveFunction } from 'citeloop';

const pages = [
  {
    title: 'Opening hours',
    url: 'https://library.example/hours',
    text: 'The library opens at 9 and closes at 18.',
  },
  { title: 'Loans', url: 'https://library.example/loans', text: 'A book can be borrowed for four weeks.' },
];

const retriever: RetrieveFunction = async (query, { topK }) => {
  const words = query.toLowerCase().match(/\w{4,}/g) ?? [];
  return pages.filter(({ text }) => words.some((word) => text.toLowerCase().includes(word))).slice(0, topK);
};

const agent = await createAgent({ retriever });
const { answer, citations } = await agent.ask('How long can a book be borrowed?');
console.log(answer);
for (const { marker, url, verdict } of citations) console.log(`[${marker}] ${url}: ${verdict}`);
await agent.close();

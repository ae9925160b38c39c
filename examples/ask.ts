// Index the sample book with `npm start -- search ROS`, then run: npx node examples/ask.ts
import { createAgent } from 'citeloop';

const agent = await createAgent({ collection: 'sample_book', policy: 'tool' });
const session = await agent.startSession();

for await (const event of session.ask('What is Isaac Sim?')) {
  if (event.type === 'retrieval_started') console.log(`searching: ${event.query}`);
  if (event.type === 'text_delta') process.stdout.write(event.delta);
}

const { answer, grounded, citations } = await agent.ask('How do I use it for synthetic data?', { session });
console.log(`\n\n${answer}\ngrounded: ${grounded}`);
for (const { marker, title, verdict } of citations) console.log(`[${marker}] ${title}: ${verdict}`);

await agent.close();

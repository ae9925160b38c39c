// Needs a model, for example: OPENAI_API_KEY=… OPENAI_MODEL=gpt-5-mini npx node examples/structured-output.ts
import { createAgent } from 'citeloop';
import * as z from 'zod';

const agent = await createAgent({
  collection: 'sample_book',
  output: z.object({ summary: z.string(), steps: z.array(z.string()) }),
});
const { output, citations } = await agent.ask('How do I create a ROS 2 package?');
for (const step of output?.steps ?? []) console.log(`- ${step}`);
console.log(`${citations.length} sources`);
await agent.close();

// Needs a model, for example: OPENAI_API_KEY=… OPENAI_MODEL=gpt-5-mini npx node examples/own-tool.ts
import { createAgent, tool } from 'citeloop';
import * as z from 'zod';

const orders = tool({
  name: 'order_status',
  description: 'The status of an order.',
  parameters: z.object({ orderId: z.string() }),
  execute: async ({ orderId }) => ({ orderId, status: 'shipped' }),
});

const agent = await createAgent({ collection: 'sample_book', tools: [orders] });
const { answer, model } = await agent.ask('Where is order 17?');
console.log(`${model}: ${answer}`);
await agent.close();

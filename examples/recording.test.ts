// A vitest test that records once and replays afterwards: RECORD=1 npx vitest run, then npx vitest run
import { createAgent } from 'citeloop';
import { recordTape, type TapeRun, useTape } from 'citeloop/testing';
import { expect, test } from 'vitest';

const tape = process.env.TAPE ?? 'order.tape.json';

async function askForOrder({ settings, runtime, sessions }: TapeRun) {
  const retriever = async () => [
    { title: 'Returns', url: 'https://shop.example/returns', text: 'Returns are free.' },
  ];
  const agent = await createAgent({ ...settings, runtime, sessions, retriever });
  const { answer, grounded } = await agent.ask('Are returns free?');
  await agent.close();
  return { answer, grounded };
}

test('the answer about returns is grounded', async () => {
  const { grounded } = process.env.RECORD
    ? await recordTape(tape, askForOrder)
    : await askForOrder(await useTape(tape));
  expect(grounded).toBe(true);
});

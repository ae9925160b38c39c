import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { expect, onTestFinished, test, vi } from 'vitest';
import { reportDataSchema } from '../../../src/evaluation/report/report-data.ts';
import { runInProcess } from '../../support/run-in-process.ts';
import { createSmallHome } from '../../support/serve-offline-model.ts';

vi.setConfig({ testTimeout: 120_000 });

/** A model that is right every other time. */
async function startFlakyModel() {
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    const { model } = (await json(request)) as { model: string };
    asked.push(model);
    const common = { id: 'c', created: 0, model };
    const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
    const content = asked.length % 2 === 1 ? 'It is a process [1].' : 'It is a bus [1].';
    const chunk = (delta: object, finish: string | null, more: object = {}) =>
      `data: ${JSON.stringify({ ...common, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }], ...more })}\n\n`;
    response.setHeader('content-type', 'text/event-stream');
    response.end(
      `${chunk({ role: 'assistant', content }, null)}${chunk({}, 'stop', { usage })}data: [DONE]\n\n`,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return { asked, flags: ['--model', 'flaky', '--base-url', url, '--policy', 'always'] };
}

test('records repeats of a question on one tape and replays them', async () => {
  const place = await createSmallHome();
  await writeFile(
    join(place.home, 'cases.jsonl'),
    '{"id":"node","question":"What is a node?","expectedPhrases":["process"]}\n',
  );
  const { asked, flags } = await startFlakyModel();
  const args = ['eval', 'cases.jsonl', '--collection', 'small', ...flags, '--repeat', '3'];
  const recorded = await runInProcess([...args, '--record', 'three.tape.json', '--json', 'a.json'], place);
  expect(recorded).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('“always” is flaky on node (2 of 3)'),
  });
  expect(asked).toHaveLength(3);
  const replayed = await runInProcess([...args, '--replay', 'three.tape.json', '--json', 'b.json'], place);
  expect(replayed.code).toBe(0);
  expect(asked).toHaveLength(3);
  const [first, second] = ['a.json', 'b.json'].map((file) =>
    reportDataSchema.parse(JSON.parse(readFileSync(join(place.home, file), 'utf8'))),
  );
  const answersOf = (report = first) => report?.cases[0]?.results.always?.runs.map(({ answer }) => answer);
  expect(new Set(answersOf()).size).toBe(2);
  expect(answersOf(second)).toEqual(answersOf());
  expect(second?.arms[0]?.metrics).toMatchObject({
    'repeat.pass_all_k': { value: 0 },
  });
});

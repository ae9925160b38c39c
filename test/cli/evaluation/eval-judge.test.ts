import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { reportDataSchema } from '../../../src/evaluation/report/report-data.ts';
import { runInProcess } from '../../support/run-in-process.ts';

const home = mkdtempSync(join(tmpdir(), 'citeloop-judge-'));
const judged: string[] = [];
let server: Server;

/** A model that streams answers, and judges 1 and 0.5 in turn if asked without a stream. */
beforeAll(async () => {
  server = createServer(async (request, response) => {
    const body = (await json(request)) as { stream?: boolean; messages: { content: string }[] };
    const common = { id: 'c', created: 0, model: 'judge' };
    const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
    if (body.stream) {
      const chunk = (delta: object, finish: string | null, more: object = {}) =>
        `data: ${JSON.stringify({ ...common, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }], ...more })}\n\n`;
      response.setHeader('content-type', 'text/event-stream');
      response.end(
        chunk({ role: 'assistant', content: 'A node is a process that performs computation [1].' }, null) +
          chunk({}, 'stop', { usage }) +
          'data: [DONE]\n\n',
      );
      return;
    }
    judged.push(JSON.stringify(body.messages));
    const content = JSON.stringify({ score: judged.length % 2 === 1 ? 1 : 0.5, reason: 'half of it' });
    const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }];
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ ...common, object: 'chat.completion', choices, usage }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  await mkdir(join(home, 'docs'));
  await writeFile(join(home, 'docs/nodes.md'), '# Nodes\n\nA node is a process that performs computation.\n');
  await writeFile(
    join(home, 'cases.jsonl'),
    '{"id":"node","question":"What is a node?","expectedPhrases":["process"]}\n',
  );
  await writeFile(
    join(home, 'prices.json'),
    '{"currency":"EUR","models":{"judge":{"input":10,"output":100}}}',
  );
  await runInProcess(['ingest', 'docs', '--collection', 'robots'], { home });
});
afterAll(() => {
  server.close();
  rmSync(home, { recursive: true, force: true });
});

test('judges answers with a model and prices them by the price file', async () => {
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const model = ['--model', 'judge', '--base-url', baseUrl, '--policy', 'always'];
  const args = [
    'eval',
    'cases.jsonl',
    '--collection',
    'robots',
    ...model,
    ...['--judge', '2', '--judge-model', 'judge'],
    '--prices',
    'prices.json',
  ];
  const { code, stdout } = await runInProcess([...args, '--json', 'out.json'], { home });
  expect(code).toBe(0);
  expect(stdout).toContain('Judged faithfulness');
  const { header, arms, cases } = reportDataSchema.parse(
    JSON.parse(readFileSync(join(home, 'out.json'), 'utf8')),
  );
  expect(header).toMatchObject({ judge: 'judge', currency: 'EUR', models: ['judge'] });
  expect(cases[0]?.results.always?.runs[0]?.judge).toMatchObject({
    scores: [1, 0.5],
    reason: 'half of it',
    tokens: { prompt: 200, completion: 20, total: 220 },
    cost: expect.closeTo(0.004, 12),
  });
  expect(header.totals).toEqual({
    turns: 1,
    reused: 0,
    tokens: 110,
    money: expect.closeTo(0.002, 12),
    judge: { tokens: 220, money: expect.closeTo(0.004, 12) },
  });
  expect(arms[0]?.metrics['judge.faithfulness']).toMatchObject({ value: 0.75 });
  // 100 input tokens at 10 and 10 output tokens at 100 per million.
  expect(arms[0]?.metrics['cost.money']).toMatchObject({ value: expect.closeTo(0.002, 12) });
  expect(judged).toHaveLength(2);
  expect(judged[0]).toContain('A node is a process that performs computation.');
});

test('replays a judged evaluation from its tape without the server', async () => {
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const model = ['--model', 'judge', '--base-url', baseUrl, '--policy', 'always'];
  const args = [
    'eval',
    'cases.jsonl',
    '--collection',
    'robots',
    ...model,
    '--judge',
    '2',
    '--judge-model',
    'judge',
  ];
  const recorded = await runInProcess([...args, '--record', 'eval.tape.json', '--json', 'first.json'], {
    home,
  });
  expect(recorded.code).toBe(0);
  const asked = judged.length;
  const replayed = await runInProcess([...args, '--replay', 'eval.tape.json', '--json', 'second.json'], {
    home,
  });
  expect(replayed.stderr).toBe('');
  expect(replayed.code).toBe(0);
  expect(judged).toHaveLength(asked);
  const runOf = (file: string) =>
    reportDataSchema.parse(JSON.parse(readFileSync(join(home, file), 'utf8'))).cases[0]?.results.always
      ?.runs[0];
  const { answer, citations, tokens, judge } = runOf('first.json') ?? {};
  expect(runOf('second.json')).toMatchObject({ answer, citations, tokens, judge });
});

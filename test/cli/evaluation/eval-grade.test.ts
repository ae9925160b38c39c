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

const home = mkdtempSync(join(tmpdir(), 'citeloop-grade-'));
const graded: string[] = [];
let server: Server;

/** A model that streams answers, and grades them if asked without a stream. */
beforeAll(async () => {
  server = createServer(async (request, response) => {
    const body = (await json(request)) as { stream?: boolean; messages: { content: string }[] };
    const common = { id: 'c', created: 0, model: 'grader' };
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
    graded.push(JSON.stringify(body.messages));
    const content = JSON.stringify({ correct: true, reason: 'it says so' });
    const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }];
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ ...common, object: 'chat.completion', choices, usage }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  await mkdir(join(home, 'docs'));
  await writeFile(join(home, 'docs/nodes.md'), '# Nodes\n\nA node is a process that performs computation.\n');
  await writeFile(
    join(home, 'cases.jsonl'),
    '{"id":"node","question":"What is a node?","expectedAnswer":"It is a unit of the graph that runs code."}\n',
  );
  await writeFile(
    join(home, 'prices.json'),
    '{"currency":"EUR","models":{"grader":{"input":10,"output":100}}}',
  );
  await writeFile(
    join(home, 'grades.jsonl'),
    '{"id":"node","answer":"It runs code.","correct":true}\n{"id":"node","answer":"A bus.","correct":false}\n',
  );
  await runInProcess(['ingest', 'docs', '--collection', 'robots'], { home });
});
afterAll(() => {
  server.close();
  rmSync(home, { recursive: true, force: true });
});

test('grades answers with a model, prices them, and shows its agreement with a person', async () => {
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const model = ['--model', 'grader', '--base-url', baseUrl, '--policy', 'always'];
  const args = [
    'eval',
    'cases.jsonl',
    '--collection',
    'robots',
    ...model,
    ...['--grade-model', 'grader', '--hand-grades', 'grades.jsonl'],
    '--prices',
    'prices.json',
  ];
  const { code, stdout } = await runInProcess([...args, '--json', 'out.json'], { home });
  expect(code).toBe(0);
  expect(stdout.replace(/\s+/g, ' ')).toContain('It agrees with 1 of 2 grades given by hand.');
  expect(stdout).toContain('graded its own answers');
  const { header, arms, cases } = reportDataSchema.parse(
    JSON.parse(readFileSync(join(home, 'out.json'), 'utf8')),
  );
  expect(header).toMatchObject({
    grader: { model: 'grader', agreement: { agreed: 1, graded: 2 } },
    currency: 'EUR',
    models: ['grader'],
  });
  expect(cases[0]?.results.always?.runs[0]?.grade).toEqual({
    correct: true,
    reason: 'it says so',
    tokens: 110,
    cost: expect.closeTo(0.002, 12),
  });
  expect(header.totals).toEqual({
    turns: 1,
    reused: 0,
    tokens: 110,
    money: expect.closeTo(0.002, 12),
    grading: { tokens: 110, money: expect.closeTo(0.002, 12) },
  });
  expect(arms[0]?.metrics['answer.correct']).toMatchObject({ value: 1 });
  // 100 input tokens at 10 and 10 output tokens at 100 per million.
  expect(arms[0]?.metrics['cost.money']).toMatchObject({ value: expect.closeTo(0.002, 12) });
  expect(graded).toHaveLength(3);
  expect(graded[0]).toContain('A node is a process that performs computation');
});

test('replays a graded evaluation from its tape without the server', async () => {
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const model = ['--model', 'grader', '--base-url', baseUrl, '--policy', 'always'];
  const args = ['eval', 'cases.jsonl', '--collection', 'robots', ...model, '--grade-model', 'grader'];
  const recorded = await runInProcess([...args, '--record', 'eval.tape.json', '--json', 'first.json'], {
    home,
  });
  expect(recorded.code).toBe(0);
  const asked = graded.length;
  const replayed = await runInProcess([...args, '--replay', 'eval.tape.json', '--json', 'second.json'], {
    home,
  });
  expect(replayed.stderr).toBe('');
  expect(replayed.code).toBe(0);
  expect(graded).toHaveLength(asked);
  const runOf = (file: string) =>
    reportDataSchema.parse(JSON.parse(readFileSync(join(home, file), 'utf8'))).cases[0]?.results.always
      ?.runs[0];
  const { answer, citations, tokens, grade } = runOf('first.json') ?? {};
  expect(runOf('second.json')).toMatchObject({ answer, citations, tokens, grade });
});

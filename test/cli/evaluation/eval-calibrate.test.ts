import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { calibrationDataSchema } from '../../../src/evaluation/calibration/calibration-data.ts';
import { readLabels } from '../../../src/evaluation/calibration/label.ts';
import { runInProcess } from '../../support/run-in-process.ts';

const home = mkdtempSync(join(tmpdir(), 'citeloop-calibrate-'));
const inHome = (name: string) => join(home, name);
const dataIn = (name: string) => calibrationDataSchema.parse(JSON.parse(readFileSync(inHome(name), 'utf8')));

const PASSAGE =
  'The harbour ferry leaves the north pier every 20 minutes. Bicycles travel free of charge on weekdays.';
const LABELS = [
  { id: 'quoted', claim: 'The harbour ferry leaves the north pier every 20 minutes.', label: 'supported' },
  { id: 'bikes', claim: 'Bicycles travel free of charge on weekdays [1].', label: 'supported' },
  { id: 'number', claim: 'The harbour ferry leaves the north pier every 45 minutes.', label: 'contradicted' },
  { id: 'other', claim: 'Lighthouse keepers may paint their towers in spring.', label: 'unsupported' },
  // A person who was wrong: this is where the check parts from them.
  { id: 'slip', claim: 'Submarine volcanoes probably erupt under Iceland.', label: 'supported' },
].map((label) => ({ ...label, passage: PASSAGE, source: 'hand' }));

let server: Server;
const asked: string[] = [];

/** A model that finds everything borne out, and once says what cannot be read. */
beforeAll(async () => {
  server = createServer(async (request, response) => {
    const body = JSON.stringify(await json(request));
    asked.push(body);
    const content = body.includes('Lighthouse')
      ? 'I would rather not say.'
      : '{"score": 1, "reason": "all of it"}';
    const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }];
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ id: 'c', created: 0, model: 'judge', object: 'chat.completion', choices }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  await writeFile(inHome('labels.jsonl'), LABELS.map((label) => `${JSON.stringify(label)}\n`).join(''));
});
afterAll(() => {
  server.close();
  rmSync(home, { recursive: true, force: true });
});

test('the check and a model are held against labels, and where they part is told in every form', async () => {
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const { code, stdout, stderr } = await runInProcess(
    [
      ...['eval', 'calibrate', 'labels.jsonl', '--json', 'out.json', '--html', 'out.html'],
      ...['--judge', '1', '--model', 'judge', '--base-url', baseUrl],
    ],
    { home },
  );
  expect({ code, stderr }).toMatchObject({ code: 0 });
  expect(stdout).toContain('The check says the same as people on 80 %');
  expect(stdout).toContain('slip: people supported, check');

  const { judges, comparisons, cases, header } = dataIn('out.json');
  expect(header).toMatchObject({ labels: 5, model: 'judge', byLabel: { supported: 3, contradicted: 1 } });
  const [check, words, model] = judges;
  // Yes to 2 of the 3 that people found supported, no to both others: .8 agree, .48 by chance.
  expect(check).toMatchObject({ name: 'check', ruled: 5, precision: { value: 1 }, recall: { n: 3 } });
  expect(check?.kappa?.value).toBeCloseTo((0.8 - 0.48) / 0.52, 9);
  expect(check?.counts.supported?.quoted).toBe(2);
  expect(words).toMatchObject({ name: 'words', agreement: { value: 0.8 } });
  expect(model).toMatchObject({
    ruled: 4,
    agreement: { value: 0.75 },
    counts: { contradicted: { supported: 1 } },
  });
  expect(comparisons.find(({ first, second }) => first === 'check' && second === 'model')).toMatchObject({
    onlyFirstRight: 1,
    onlySecondRight: 1,
    p: 1,
  });
  expect(cases.flatMap(({ id, partFrom }) => (partFrom.includes('check') ? [id] : []))).toEqual(['slip']);
  expect(cases.find(({ id }) => id === 'other')?.rulings.model).toBeNull();
  expect(asked).toHaveLength(5);
  // What points at sources is no part of what is judged.
  expect(asked[1]).toContain('on weekdays.\\n=== end');

  const page = readFileSync(inHome('out.html'), 'utf8');
  expect(page).toContain('Submarine volcanoes');
  expect(page).toContain("default-src 'none'");
  expect(page).not.toContain('<script');
});

test('where the embedder is a service, the check by words alone is measured and said to be', async () => {
  const env = { CITELOOP_EMBEDDER: 'cohere' };
  const { code, stdout } = await runInProcess(['eval', 'calibrate', 'labels.jsonl', '--json'], { home, env });
  expect(code).toBe(0);
  const { judges, findings } = calibrationDataSchema.parse(JSON.parse(stdout));
  expect(judges.map(({ name }) => name)).toEqual(['words']);
  expect(findings.join(' ')).toContain('with its encoder was not measured');
});

test('lines that are no labels are told with their numbers, before anything is judged', async () => {
  const lines = ['{"claim":"x","passage":"y","label":"supported"}', '{"claim":"x","label":"maybe"}', 'no'];
  await writeFile(inHome('bad.jsonl'), lines.join('\n'));
  const { code, stderr } = await runInProcess(['eval', 'calibrate', 'bad.jsonl'], { home });
  expect(code).toBe(2);
  expect(stderr).toContain('line 3: it is no JSON');
  expect(stderr).toContain('line 2: label');
});

test('what people thought of answers becomes labels', async () => {
  await mkdir(inHome('docs'));
  await writeFile(inHome('docs/ferry.md'), `# Ferry\n\n${PASSAGE}\n`);
  const run = (...args: string[]) => runInProcess([...args, '--collection', 'harbour'], { home });
  expect((await run('ingest', 'docs')).code).toBe(0);
  const draft = ['eval', 'init', '--from', 'feedback', '--output', 'judged.jsonl'];
  expect((await run(...draft)).stderr).toContain('has been judged yet');
  await run('ask', 'How often does the harbour ferry leave?');
  await run('sessions', 'feedback', 'last', 'bad');
  expect(await run(...draft)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('citeloop eval calibrate judged.jsonl'),
  });
  const [label] = readLabels(readFileSync(inHome('judged.jsonl'), 'utf8'), 'judged.jsonl');
  expect(label).toMatchObject({
    question: 'How often does the harbour ferry leave?',
    // Whatever else it says, without its markers.
    claim: expect.stringMatching(/^The harbour ferry leaves the north pier every 20 minutes\.[^[\]]*$/),
    documents: [expect.stringContaining('Bicycles travel free')],
    label: 'unsupported',
    source: 'feedback',
  });
});

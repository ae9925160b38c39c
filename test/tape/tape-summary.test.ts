import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { createRedactor } from '../../src/faults/redactor.ts';
import { toHar } from '../../src/tape/har.ts';
import { readTape } from '../../src/tape/read-tape.ts';
import { findTapeProblems, summarizeTape } from '../../src/tape/tape-summary.ts';
import { jsonExchange, sampleExchange, sampleHeader, writeTape } from './support/sample-tape.ts';

test('lists the calls with their status, failure and chunks', async () => {
  const chunks = [{ delayMs: 0, data: 'data: [DONE]\n\n' }];
  const streamed = sampleExchange({ response: { status: 200, headers: {}, chunks } });
  const failed = sampleExchange({
    id: 2,
    response: undefined,
    failure: { name: 'TypeError', message: 'fetch failed', code: 'ECONNREFUSED' },
  });
  const cut = sampleExchange({ id: 3, failure: { name: 'AbortError', message: 'cut' } });
  const { calls } = summarizeTape(readTape(await writeTape([streamed, failed, cut])));
  expect(calls).toMatchObject([
    { id: 1, outcome: '200', chunks: 1, request: 'POST service.test/v1/things' },
    { id: 2, outcome: 'ECONNREFUSED', chunks: null },
    { id: 3, outcome: '200 AbortError' },
  ]);
});

test('names each place with a possible secret', async () => {
  const clean = readTape(await writeTape([jsonExchange(1, { q: 'a' }, { b: 1, a: 2 })]));
  expect(findTapeProblems(clean, createRedactor())).toEqual([]);
  const header = sampleHeader({ inputs: { question: 'about ACME-1' } });
  const path = await writeTape([jsonExchange(1, { q: 'a' }, {}), jsonExchange(2, { q: 'ACME-2' }, {})], {
    header,
    outputs: { answer: 'ACME-3' },
  });
  expect(findTapeProblems(readTape(path), createRedactor({ patterns: ['ACME-\\d'] }))).toEqual([
    expect.stringContaining('secret in the inputs'),
    expect.stringContaining('secret in the outputs'),
    expect.stringContaining('secret in exchange 2 (POST /v1/things)'),
  ]);
});

const NPM = `npm_${'a1B2'.repeat(9)}`;
const PEM = `-----BEGIN PRIVATE KEY-----\n${'MIIEvQIB'.repeat(8)}\n-----END PRIVATE KEY-----`;

test('removes tokens and private keys from tapes and HAR files, and finds them on a tape', async () => {
  const keys = { npm: `//registry/:_authToken=${NPM}`, pem: PEM };
  const sent = [
    jsonExchange(
      1,
      { points: [{ id: 1, payload: { text: keys.npm, title: keys.pem } }] },
      { result: [keys] },
      '/points',
    ),
    jsonExchange(2, { texts: [keys.pem, keys.npm], model: 'embed' }, { message: keys.npm }, '/v2/embed'),
    jsonExchange(3, { query: 'q', documents: [keys.npm, keys.pem] }, { results: [] }, '/v2/rerank'),
  ];
  const path = await writeTape(sent, { outputs: { answer: keys.npm } });
  const text = await readFile(path, 'utf8');
  const tape = readTape(path);
  for (const written of [text, JSON.stringify(toHar(tape, createRedactor()))]) {
    expect(written).not.toMatch(/npm_a1B2|MIIEvQIB/);
    expect(written).toContain('_authToken=[redacted]');
  }
  expect(findTapeProblems(tape, createRedactor())).toEqual([]);

  const leaky = join(dirname(path), 'leaky.tape.json');
  await writeFile(leaky, text.replaceAll('_authToken=[redacted]', `_authToken=${NPM}`));
  const problems = findTapeProblems(readTape(leaky), createRedactor());
  expect(problems.filter((problem) => problem.includes('secret'))).toHaveLength(4);
  expect(JSON.stringify(toHar(readTape(leaky), createRedactor()))).not.toContain(NPM);
});

test('summarizes a tape whose outputs cannot be read', async () => {
  const tape = readTape(await writeTape([], { outputs: { turns: 1 } }));
  expect(summarizeTape(tape)).toMatchObject({ outputs: null, calls: [], complete: true, edited: false });
});

import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { createRedactor } from '../../src/faults/redactor.ts';
import { readTape } from '../../src/tape/read-tape.ts';
import type { TapeExchange, TapeJson } from '../../src/tape/tape-format.ts';
import { createSeededIdGenerator } from '../../src/tape/tape-runtime.ts';
import { createTapeWriter } from '../../src/tape/tape-writer.ts';
import { jsonExchange, sampleHeader, writeTape } from './support/sample-tape.ts';

const CHAT = '/v1/chat/completions';
let runs = 0;

/** Two steps of a turn. Every call generates new ids, and the second request repeats the id of the tool call. */
function turn({ answer = 'A node is a process.', query = 'node' } = {}): TapeExchange[] {
  runs += 1;
  const call = `call_${'x'.repeat(8)}${runs}`;
  const message = { tool_calls: [{ id: call, function: { name: 'search_docs', arguments: query } }] };
  const first = { messages: ['What is a node?'] };
  const second = { messages: ['What is a node?', message, { tool_call_id: call, content: '[]' }] };
  const head = { id: `chatcmpl-abc${runs}`, created: 1_700_000_000 + runs, system_fingerprint: `fp_${runs}` };
  return [
    jsonExchange(1, first, { ...head, choices: [{ message }] }, CHAT),
    jsonExchange(2, second, { ...head, choices: [{ message: { content: answer } }] }, CHAT),
  ].map((exchange) => ({ ...exchange, startedAtMs: runs * 3, durationMs: runs * 7 }));
}

const outputs = (answer = 'A node is a process.'): TapeJson => ({ turns: [{ answer }] });

async function recordAgain(path: string, exchanges: readonly TapeExchange[], result = outputs()) {
  const header = sampleHeader({
    createdAt: '2026-05-06T07:08:09.000Z',
    seed: `seed ${runs}`,
    madeBy: { program: 'citeloop', version: '9.9.9' },
  });
  const writer = createTapeWriter({ path, header, redactor: createRedactor() });
  for (const exchange of exchanges) writer.append(exchange);
  return writer.close(result);
}

const linesOf = async (path: string) => (await readFile(path, 'utf8')).split('\n');

test('recording an unchanged run again leaves the file unchanged, whatever ids and times the service gives', async () => {
  const path = await writeTape(turn(), { outputs: outputs() });
  const before = await readFile(path, 'utf8');
  expect(await recordAgain(path, turn())).toEqual({ unchanged: true });
  // The order in which answers end does not matter.
  expect(await recordAgain(path, turn().reverse())).toEqual({ unchanged: true });
  expect(await readFile(path, 'utf8')).toBe(before);
});

test('only changed exchanges are rewritten, and they keep the old request', async () => {
  const path = await writeTape(turn(), { outputs: outputs() });
  const before = new Set(await linesOf(path));
  const other = 'A node is a program.';
  expect(await recordAgain(path, turn({ answer: other }), outputs(other))).toEqual({ unchanged: false });
  const added = (await linesOf(path)).filter((line) => !before.has(line)).join('\n');
  expect(added).toContain(other);
  expect(added).not.toContain('call_');
  const tape = readTape(path);
  const [first, second] = tape.exchanges;
  const call = JSON.stringify(first?.response).match(/call_\w+/)?.[0];
  expect(JSON.stringify(second?.request)).toContain(call);
  expect(tape.edited).toBe(false);
});

test('a changed tool call has the same id in its answer and in the next request', async () => {
  const path = await writeTape(turn(), { outputs: outputs() });
  await recordAgain(path, turn({ query: 'nodes' }));
  const text = await readFile(path, 'utf8');
  expect(new Set(text.match(/"call_\w+"/g)).size).toBe(1);
  expect(text.match(/"arguments": "nodes"/g)).toHaveLength(2);
});

test('ids that the program generates in a request do not count as a change', async () => {
  const writes = (seed: string) => [
    jsonExchange(1, { changeId: createSeededIdGenerator(seed)() }, { ok: true }),
  ];
  const path = await writeTape(writes('a seed'), { outputs: outputs() });
  const before = await readFile(path, 'utf8');
  expect(await recordAgain(path, writes(`seed ${runs}`))).toEqual({ unchanged: true });
  expect(await readFile(path, 'utf8')).toBe(before);
});

test('point ids of a store count as content', async () => {
  const found = (id: string) => [
    jsonExchange(1, { limit: 1 }, { result: [{ id }] }, '/collections/book/points/query'),
  ];
  const path = await writeTape(found('7c5e8f54-780c-8821'), { outputs: outputs() });
  expect(await recordAgain(path, found('2d72923b-a5e0-8ea2'))).toEqual({ unchanged: false });
  expect(await recordAgain(path, found('2d72923b-a5e0-8ea2'))).toEqual({ unchanged: true });
});

test('a new exchange follows the one it was made after, and unused ones are removed', async () => {
  const path = await writeTape(['a', 'b', 'c'].map((q, index) => jsonExchange(index + 1, { q }, { q })));
  await recordAgain(
    path,
    ['b', 'new', 'a'].map((q, index) => jsonExchange(index + 1, { q }, { q })),
  );
  const tape = readTape(path);
  expect(tape.exchanges.map(({ response }) => response?.body)).toEqual(
    ['a', 'b', 'new'].map((q) => ({ json: { q } })),
  );
});

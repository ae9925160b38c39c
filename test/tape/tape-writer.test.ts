import { readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { createRedactor } from '../../src/faults/redactor.ts';
import { readTape } from '../../src/tape/read-tape.ts';
import type { TapeExchange } from '../../src/tape/tape-format.ts';
import { createTapeWriter } from '../../src/tape/tape-writer.ts';
import { createTemporaryDirectory } from '../support/temporary-directory.ts';
import { jsonExchange, sampleExchange, sampleHeader, writeTape } from './support/sample-tape.ts';

const redactor = createRedactor();
const newPath = async () => join(await createTemporaryDirectory(), 'run.tape.json');

test('writes one JSON document with one value per line, in the order of the requests', async () => {
  const vector = Array.from({ length: 20 }, (_, index) => index / 10);
  const path = await writeTape([
    jsonExchange(2, { q: 'b' }, { vector }),
    jsonExchange(1, { q: 'a', n: [1, 2] }, { a: 1 }),
  ]);

  const text = await readFile(path, 'utf8');
  const { version, exchanges, complete } = JSON.parse(text);
  expect({ version, complete }).toEqual({ version: 3, complete: true });
  expect(exchanges.map(({ request }: TapeExchange) => request.body)).toEqual([
    { json: { q: 'a', n: [1, 2] } },
    { json: { q: 'b' } },
  ]);
  expect(text.split('\n').filter((line) => /^ +"q": "[ab]",?$/.test(line))).toHaveLength(2);
  expect(text).toContain(`"vector": ${JSON.stringify(vector)}\n`);
  expect(text).not.toContain('"id"');
});

test('writes texts and events line by line and reads them back', async () => {
  const stream = [
    'data: {"choices":[{"delta":{"content":"A node"}}]}\n\ndata: {"choices":[{"delta":{"content":"."}}]}\n\n',
    'event: done\ndata: [DONE]\n\n',
    ': still there\n\ndata: {"half":',
    '1}\r\n\r\n',
  ];
  const chunks = stream.map((data, index) => ({ delayMs: index, data }));
  const exchanges = [
    sampleExchange({ response: { status: 200, headers: {}, chunks } }),
    sampleExchange({ id: 2, response: { status: 200, headers: {}, body: { text: 'one\ntwo\n' } } }),
  ];
  const path = await writeTape(exchanges);
  const tape = readTape(path);
  expect(tape.exchanges).toEqual(exchanges);
  const lines = (await readFile(path, 'utf8')).split('\n').map((line) => line.trim());
  expect(lines).toContain('{"data":{"choices":[{"delta":{"content":"A node"}}]}},');
  expect(lines).toContain('{"event":"done","text":"[DONE]"}');
  expect(lines).toContain('"two",');
});

test('reads back a tape without exchanges', async () => {
  const tape = readTape(await writeTape([]));
  expect(tape).toMatchObject({ exchanges: [], complete: true, edited: false });
});

test('keeps the old tape until close, and an abandoned recording beside it', async () => {
  const path = await writeTape([jsonExchange(1, { q: 'old' }, {})]);
  const before = await readFile(path, 'utf8');
  const writer = createTapeWriter({ path, header: sampleHeader(), redactor });
  writer.append(jsonExchange(1, { q: 'new' }, {}));
  writer.abandon();

  expect(await readFile(path, 'utf8')).toBe(before);
  const partial = readTape(writer.partialPath);
  expect(partial).toMatchObject({ exchanges: [{ id: 1 }], complete: false, outputs: undefined });
});

test('two recordings to one file do not disturb each other, and the last to finish wins', async () => {
  const path = await newPath();
  const first = createTapeWriter({ path, header: sampleHeader(), redactor });
  const second = createTapeWriter({ path, header: sampleHeader(), redactor });
  first.append(jsonExchange(1, { q: 'first' }, {}));
  second.append(jsonExchange(1, { q: 'second' }, {}));
  await second.close(null);
  await first.close(null);
  const tape = readTape(path);
  expect(tape.exchanges.map(({ request }) => request.body)).toEqual([{ json: { q: 'first' } }]);
  expect(await readdir(dirname(path))).toEqual([basename(path)]);
});

test('does not replace a file that is not a tape', async () => {
  const path = await newPath();
  await writeFile(path, '{"name": "my package"}');

  expect(() => createTapeWriter({ path, header: sampleHeader(), redactor })).toThrow(
    expect.objectContaining({
      kind: 'invalid_input',
      message: expect.stringContaining('is not a tape'),
    }),
  );
  expect(await readFile(path, 'utf8')).toBe('{"name": "my package"}');
});

test('rejects a missing folder before anything is recorded', async () => {
  const path = join(await createTemporaryDirectory(), 'none', 'run.tape.json');
  expect(() => createTapeWriter({ path, header: sampleHeader(), redactor })).toThrow(
    expect.objectContaining({
      kind: 'invalid_input',
      message: `Cannot write the tape ${path}: no such file or directory.`,
    }),
  );
});

test('does not write a tape that would still contain a key', async () => {
  const path = await newPath();
  const key = 'a-very-secret-key';
  const real = createRedactor({ secrets: [key] });
  // A redactor that removes nothing, to test the check before writing.
  const blind = { ...createRedactor(), holdsSecret: real.holdsSecret };
  const writer = createTapeWriter({ path, header: sampleHeader(), redactor: blind });
  writer.append(jsonExchange(1, { q: key }, {}));

  await expect(writer.close(null)).rejects.toMatchObject({
    kind: 'invalid_input',
    message: expect.stringContaining('it would contain a secret'),
  });
  expect(await readdir(dirname(path))).toEqual([]);
});

test('replaces an empty file or a tape, but not a folder', async () => {
  const empty = await newPath();
  await writeFile(empty, '');
  await createTapeWriter({ path: empty, header: sampleHeader(), redactor }).close(null);
  expect(readTape(empty).complete).toBe(true);
  const folder = await createTemporaryDirectory();
  expect(() => createTapeWriter({ path: folder, header: sampleHeader(), redactor })).toThrow(
    expect.objectContaining({
      message: `${folder} exists and is not a tape.`,
    }),
  );
});

test('discard leaves no file', async () => {
  const path = await newPath();
  const writer = createTapeWriter({ path, header: sampleHeader(), redactor });
  writer.append(jsonExchange(1, {}, {}));
  writer.discard();
  expect(await readdir(dirname(path))).toEqual([]);
});

test('does not keep an abandoned recording that would contain a key', async () => {
  const path = await newPath();
  const { holdsSecret } = createRedactor({ secrets: ['a-very-secret-key'] });
  const blind = { ...createRedactor(), holdsSecret };
  const writer = createTapeWriter({ path, header: sampleHeader(), redactor: blind });
  writer.append(jsonExchange(1, { q: 'a-very-secret-key' }, {}));
  writer.abandon();
  expect(await readdir(dirname(path))).toEqual([]);
});

test('detects a key that is split over the chunks of a stream', async () => {
  const { holdsSecret } = createRedactor({ secrets: ['a-very-secret-key'] });
  const blind = { ...createRedactor(), holdsSecret };
  const delta = (text: string) => `data: ${JSON.stringify({ delta: text })}\n\n`;
  for (const pieces of [
    ['a-very-', 'secret-key'],
    [delta('a-very-'), delta('secret-key')],
  ]) {
    const path = await newPath();
    const chunks = pieces.map((data) => ({ delayMs: 0, data }));
    const writer = createTapeWriter({ path, header: sampleHeader(), redactor: blind });
    writer.append({ ...jsonExchange(1, {}, {}), response: { status: 200, headers: {}, chunks } });
    await expect(writer.close(null)).rejects.toThrow('it would contain a secret');
  }
});

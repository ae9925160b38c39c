import { readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { createRedactor } from '../../src/faults/redactor.ts';
import { openTape } from '../../src/tape/open-tape.ts';
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
  const tape = openTape(path);
  expect([...tape.exchanges()]).toEqual(exchanges);
  tape.close();
  const lines = (await readFile(path, 'utf8')).split('\n').map((line) => line.trim());
  expect(lines).toContain('{"data":{"choices":[{"delta":{"content":"A node"}}]}},');
  expect(lines).toContain('{"event":"done","text":"[DONE]"}');
  expect(lines).toContain('"two",');
});

test('reads back a tape without exchanges', async () => {
  const tape = openTape(await writeTape([]));
  expect(tape).toMatchObject({ count: 0, complete: true, edited: false });
  tape.close();
});

test('keeps the old tape until close, and an abandoned recording beside it', async () => {
  const path = await writeTape([jsonExchange(1, { q: 'old' }, {})]);
  const before = await readFile(path, 'utf8');
  const writer = await createTapeWriter({ path, header: sampleHeader(), redactor });
  writer.append(jsonExchange(1, { q: 'new' }, {}));
  await writer.abandon();

  expect(await readFile(path, 'utf8')).toBe(before);
  const partial = openTape(writer.partialPath);
  expect(partial).toMatchObject({ count: 1, complete: false, tail: null });
  partial.close();
});

test('two recordings to one file do not disturb each other, and the last to finish wins', async () => {
  const path = await newPath();
  const first = await createTapeWriter({ path, header: sampleHeader(), redactor });
  const second = await createTapeWriter({ path, header: sampleHeader(), redactor });
  first.append(jsonExchange(1, { q: 'first' }, {}));
  second.append(jsonExchange(1, { q: 'second' }, {}));
  await second.close(null);
  await first.close(null);
  using tape = openTape(path);
  expect(Array.from(tape.exchanges(), ({ request }) => request.body)).toEqual([{ json: { q: 'first' } }]);
  expect(await readdir(dirname(path))).toEqual([basename(path)]);
});

test('does not replace a file that is not a tape', async () => {
  const path = await newPath();
  await writeFile(path, '{"name": "my package"}');

  await expect(createTapeWriter({ path, header: sampleHeader(), redactor })).rejects.toMatchObject({
    kind: 'invalid_input',
    message: expect.stringContaining('is not a tape'),
  });
  expect(await readFile(path, 'utf8')).toBe('{"name": "my package"}');
});

test('rejects a missing folder before anything is recorded', async () => {
  const path = join(await createTemporaryDirectory(), 'none', 'run.tape.json');
  await expect(createTapeWriter({ path, header: sampleHeader(), redactor })).rejects.toMatchObject({
    kind: 'invalid_input',
    message: `Cannot write the tape ${path}: its folder does not exist.`,
  });
});

test('does not write a tape that would still contain a key', async () => {
  const path = await newPath();
  const key = 'a-very-secret-key';
  const real = createRedactor({ secrets: [key] });
  // A redactor that removes nothing, to test the check before writing.
  const blind = { ...createRedactor(), holdsSecret: real.holdsSecret };
  const writer = await createTapeWriter({ path, header: sampleHeader(), redactor: blind });
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
  await (await createTapeWriter({ path: empty, header: sampleHeader(), redactor })).close(null);
  expect(openTape(empty).complete).toBe(true);
  const folder = await createTemporaryDirectory();
  await expect(createTapeWriter({ path: folder, header: sampleHeader(), redactor })).rejects.toMatchObject({
    message: `${folder} exists and is not a tape.`,
  });
});

test('discard leaves no file', async () => {
  const path = await newPath();
  const writer = await createTapeWriter({ path, header: sampleHeader(), redactor });
  writer.append(jsonExchange(1, {}, {}));
  await writer.discard();
  expect(await readdir(dirname(path))).toEqual([]);
});

test('does not keep an abandoned recording that would contain a key', async () => {
  const path = await newPath();
  const { holdsSecret } = createRedactor({ secrets: ['a-very-secret-key'] });
  const blind = { ...createRedactor(), holdsSecret };
  const writer = await createTapeWriter({ path, header: sampleHeader(), redactor: blind });
  writer.append(jsonExchange(1, { q: 'a-very-secret-key' }, {}));
  await writer.abandon();
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
    const writer = await createTapeWriter({ path, header: sampleHeader(), redactor: blind });
    writer.append({ ...jsonExchange(1, {}, {}), response: { status: 200, headers: {}, chunks } });
    await expect(writer.close(null)).rejects.toThrow('it would contain a secret');
  }
});

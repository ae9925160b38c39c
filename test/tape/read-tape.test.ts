import { createHash } from 'node:crypto';
import { readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AppError } from '../../src/faults/app-error.ts';
import { readTape } from '../../src/tape/read-tape.ts';
import { createTemporaryDirectory } from '../support/temporary-directory.ts';
import { jsonExchange, sampleHeader, writeTape } from './support/sample-tape.ts';

async function fileWith(text: string): Promise<string> {
  const path = join(await createTemporaryDirectory(), 'x.tape.json');
  await writeFile(path, text);
  return path;
}

function openingError(path: string): AppError {
  try {
    readTape(path);
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('it opened');
}

test('reads a truncated tape up to its last complete exchange, or rejects it', async () => {
  const exchanges = [
    jsonExchange(1, { q: 'ä' }, { a: 'é' }),
    jsonExchange(2, { q: 'b' }, { a: 2 }),
    jsonExchange(3, { q: 'c' }, {}),
  ];
  const text = await readFile(await writeTape(exchanges), 'utf8');
  const path = join(await createTemporaryDirectory(), 'cut.tape.json');
  const header = text.indexOf('"exchanges": [') + '"exchanges": ['.length;
  for (let length = 0; length < text.length - 2; length += 17) {
    await writeFile(path, text.slice(0, length));
    if (length < header) {
      expect(openingError(path)).toMatchObject({ kind: 'invalid_input' });
      continue;
    }
    const tape = readTape(path);
    expect(tape.complete).toBe(false);
    expect(tape.edited).toBe(false);
    expect(tape.exchanges).toEqual(exchanges.slice(0, tape.exchanges.length));
  }
});

test('rejects a newer format and names its version', async () => {
  const path = await fileWith('{"version": 99, "shape": "unknown"}');
  expect(openingError(path)).toMatchObject({
    kind: 'invalid_input',
    message: `${path} has format 99, made by a newer citeloop.`,
  });
});

test('detects that a recorded tape was edited', async () => {
  const path = await writeTape([jsonExchange(1, { q: 'a' }, { answer: 'yes' })]);
  const text = await readFile(path, 'utf8');
  expect(readTape(path).edited).toBe(false);
  await writeFile(path, text.replace('"yes"', '"no!"'));
  expect(readTape(path).edited).toBe(true);
  await writeFile(path, text.replace(/,\n {2}"digest": "\w+"/, ''));
  expect(readTape(path).edited).toBe(true);
  await writeFile(path, text.replace('"yes"', '"no!"').replace('"recorded"', '"written by hand"'));
  expect(readTape(path).edited).toBe(false);
});

test('reads a tape written by hand in any layout', async () => {
  const header = sampleHeader({ origin: 'written by hand' });
  const exchanges = [jsonExchange(2, { q: 'b' }, {}), jsonExchange(1, { q: 'a' }, {})];
  for (const indent of [undefined, 2, '\t']) {
    const path = await fileWith(JSON.stringify({ ...header, exchanges, complete: true }, null, indent));
    const tape = readTape(path);
    expect(tape).toMatchObject({ complete: true, edited: false });
    expect(tape.exchanges.map(({ id }) => id)).toEqual([1, 2]);
  }
});

test('rejects a file that is not a tape with a reason', async () => {
  expect(openingError(await fileWith('')).message).toContain('it is empty');
  expect(openingError(await fileWith('[1, 2]')).message).toContain('it is not a JSON object');
  expect(openingError(await fileWith('{"log": {}}')).message).toContain('it has no version');
  expect(openingError(await fileWith('{"version": 1}')).message).toContain('is not valid at origin');
  expect(openingError('/nowhere/x.json').message).toContain('no such file or directory');
});

test('rejects a tape with a damaged or invalid exchange', async () => {
  const path = await writeTape([jsonExchange(1, { q: 'a' }, {}), jsonExchange(2, { q: 'b' }, {})]);
  const text = await readFile(path, 'utf8');
  await writeFile(path, text.replace('"q": "b"', '"q": "b'));
  expect(openingError(path).message).toContain('is not a tape');
  await writeFile(path, text.replace('"durationMs": 5', '"durationMs": -5'));
  expect(openingError(path).message).toContain('is not valid at exchanges.0.durationMs');
});

test('refuses a tape that is too large to be read whole', async () => {
  const path = await fileWith('');
  await truncate(path, 200_000_001);
  expect(openingError(path).message).toContain('is larger than 200 MB');
});

test('reads format 1, with one exchange and its id per line', async () => {
  const exchanges = [jsonExchange(2, { q: 'b' }, { a: 2 }), jsonExchange(1, { q: 'a' }, { a: 1 })];
  const head = JSON.stringify(sampleHeader(), null, 2).slice(0, -2);
  const lines = exchanges.map((exchange) => JSON.stringify(exchange)).join(',\n');
  const text = `${head},\n  "exchanges": [\n${lines}\n  ],\n  "outputs": null,\n  "complete": true,\n`;
  const digest = createHash('sha256').update(text).digest('hex');
  const path = await fileWith(`${text}  "digest": "${digest}"\n}\n`);
  const tape = readTape(path);
  expect(tape).toMatchObject({ complete: true, edited: false, header: { version: 1 } });
  expect(tape.exchanges).toEqual(exchanges.toReversed());
});

test('returns exchanges in the order of their requests, whatever the order of the answers', async () => {
  const ids = fc.uniqueArray(fc.integer({ min: 1, max: 500 }), { minLength: 1, maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(ids, async (order) => {
      const tape = readTape(await writeTape(order.map((id) => jsonExchange(id, { q: id % 3 }, { a: id }))));
      expect(tape.exchanges.map(({ id }) => id)).toEqual(order.map((_, index) => index + 1));
      const answers = tape.exchanges.map(({ response }) => response?.body);
      expect(answers).toEqual(order.toSorted((a, b) => a - b).map((a) => ({ json: { a } })));
    }),
    { numRuns: 30 },
  );
});

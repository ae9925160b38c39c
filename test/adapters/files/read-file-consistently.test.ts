import { appendFile, mkdtemp, open, rm, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readFileConsistently } from '../../../src/adapters/files/read-file-consistently.ts';

let directory: string;
let path: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'citeloop-read-'));
  path = join(directory, 'a.md');
  await writeFile(path, 'first version');
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

/** Opens the real file, and changes it at its first read. */
function openAndDisturb(disturb: () => Promise<void>) {
  return async (name: string, flags: number) => {
    const handle = await open(name, flags);
    return {
      stat: handle.stat.bind(handle),
      close: handle.close.bind(handle),
      read: (async (buffer: Uint8Array, offset: number, length: number, position: null) => {
        const result = await handle.read(buffer, offset, length, position);
        await disturb();
        return result;
      }) as typeof handle.read,
    };
  };
}

test('reads a file again that changed while it was read', async () => {
  let left = 1;
  const openFile = openAndDisturb(async () => {
    if (left > 0) await appendFile(path, ', second version');
    left -= 1;
  });
  const bytes = await readFileConsistently(path, { maxBytes: 1000, openFile });
  expect(new TextDecoder().decode(bytes)).toBe('first version, second version');
});

test('rejects a file that keeps changing after three attempts', async () => {
  let attempts = 0;
  const openFile = openAndDisturb(async () => {
    attempts += 1;
    await appendFile(path, '+');
  });
  await expect(readFileConsistently(path, { maxBytes: 1000, openFile })).rejects.toMatchObject({
    kind: 'invalid_input',
    message: `${path} changed while it was being read.`,
  });
  expect(attempts).toBe(3);
});

test('reads a file again that was overwritten with the same size', async () => {
  await utimes(path, 0, 0);
  let left = 1;
  const openFile = openAndDisturb(async () => {
    if (left > 0) await writeFile(path, 'other version');
    left -= 1;
  });
  const bytes = await readFileConsistently(path, { maxBytes: 1000, openFile });
  expect(new TextDecoder().decode(bytes)).toBe('other version');
});

test('reads a file again that was truncated', async () => {
  await writeFile(path, 'x'.repeat(3 * 1024 * 1024));
  let left = 1;
  const openFile = openAndDisturb(async () => {
    if (left > 0) await truncate(path, 10);
    left -= 1;
  });
  expect(await readFileConsistently(path, { maxBytes: 10_000_000, openFile })).toHaveLength(10);
});

test.each([
  ['EACCES', 'cannot be read: permission denied.'],
  ['EMFILE', 'cannot be opened: too many files are open.'],
  ['ESTALE', 'cannot be read: ESTALE: something happened.'],
])('reports the system error %s as: %s', async (code, sentence) => {
  const openFile = () => Promise.reject(Object.assign(new Error(`${code}: something happened`), { code }));
  await expect(readFileConsistently(path, { maxBytes: 1000, openFile })).rejects.toMatchObject({
    kind: 'invalid_input',
    message: `${path} ${sentence}`,
  });
});

import { appendFile, mkdtemp, open, rm, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readConsistently } from '../../../src/adapters/files/read-consistently.ts';

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

test('a file that changed once during the read is read again', async () => {
  let left = 1;
  const openFile = openAndDisturb(async () => {
    if (left > 0) await appendFile(path, ', second version');
    left -= 1;
  });
  const bytes = await readConsistently(path, { maxBytes: 1000, openFile });
  expect(new TextDecoder().decode(bytes)).toBe('first version, second version');
});

test('a file that keeps changing is refused after three attempts', async () => {
  let attempts = 0;
  const openFile = openAndDisturb(async () => {
    attempts += 1;
    await appendFile(path, '+');
  });
  await expect(readConsistently(path, { maxBytes: 1000, openFile })).rejects.toMatchObject({
    kind: 'invalid_input',
    message: `${path} changed while it was read.`,
  });
  expect(attempts).toBe(3);
});

test('a file that was overwritten with as many bytes is read again', async () => {
  await utimes(path, 0, 0);
  let left = 1;
  const openFile = openAndDisturb(async () => {
    if (left > 0) await writeFile(path, 'other version');
    left -= 1;
  });
  const bytes = await readConsistently(path, { maxBytes: 1000, openFile });
  expect(new TextDecoder().decode(bytes)).toBe('other version');
});

test('a file that was cut short during the read is read again', async () => {
  await writeFile(path, 'x'.repeat(3 * 1024 * 1024));
  let left = 1;
  const openFile = openAndDisturb(async () => {
    if (left > 0) await truncate(path, 10);
    left -= 1;
  });
  expect(await readConsistently(path, { maxBytes: 10_000_000, openFile })).toHaveLength(10);
});

test.each([
  ['EACCES', 'cannot be read: permission denied.'],
  ['EMFILE', 'cannot be opened: too many files are open.'],
  ['ESTALE', 'cannot be read: ESTALE: something happened.'],
])('the system fault %s is told as: %s', async (code, sentence) => {
  const openFile = () => Promise.reject(Object.assign(new Error(`${code}: something happened`), { code }));
  await expect(readConsistently(path, { maxBytes: 1000, openFile })).rejects.toMatchObject({
    kind: 'invalid_input',
    message: `${path} ${sentence}`,
  });
});

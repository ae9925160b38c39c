import { existsSync } from 'node:fs';
import { appendFile, chmod, cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTarGzip } from 'nanotar';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { assertGenuineEngine, ensureOnnxEngine, findOnnxEngine } from '../../../src/adapters/onnx/engine.ts';
import { assertHashes, downloadPackageFiles } from '../../../src/adapters/onnx/fetch-package.ts';
import { loadOnnxEngine } from '../../../src/adapters/onnx/model-session.ts';
import { modelLocation } from '../../support/model-weights.ts';
import { createTemporaryDirectory } from '../../support/temporary-directory.ts';

const FOLDER = `onnxruntime-1.30.0-${process.platform}-${process.arch}`;
const FILES = ['DirectML.dll', 'dxcompiler.dll', 'dxil.dll', 'onnxruntime.dll', 'libonnxruntime.so.1'];

let empty: { directory: string; isDownloadable: boolean; cache: string };

beforeEach(async () => {
  const directory = await createTemporaryDirectory();
  empty = { directory: join(directory, 'own'), isDownloadable: false, cache: join(directory, 'cache') };
});

afterEach(() => void vi.unstubAllEnvs());

/** Puts a fake npm client on the PATH that packs these entries. */
async function packing(entries: Record<string, string>): Promise<void> {
  const directory = await createTemporaryDirectory();
  const archive = join(directory, 'package.tgz');
  const files = Object.entries(entries).map(([name, data]) => ({ name, data }));
  await writeFile(archive, await createTarGzip(files));
  await writeFile(join(directory, 'npm'), `#!/bin/sh\ncp '${archive}' "$4/package.tgz"\n`);
  await chmod(join(directory, 'npm'), 0o755);
  vi.stubEnv('PATH', `${directory}:${process.env.PATH}`);
}

test('prefers an engine beside the weights to one in the cache, and ignores incomplete ones', async () => {
  for (const place of [empty.cache, empty.directory]) {
    await mkdir(join(place, FOLDER), { recursive: true });
    await writeFile(join(place, FOLDER, 'onnxruntime_binding.node'), '');
    expect(findOnnxEngine(empty)?.directory).not.toBe(join(place, FOLDER));
    for (const file of [...FILES, 'libonnxruntime.1.dylib']) await writeFile(join(place, FOLDER, file), '');
    expect(findOnnxEngine(empty)).toEqual({
      directory: join(place, FOLDER),
      isCached: place === empty.cache,
    });
  }
});

test('finds the engine without the network, and reports a broken one with what to do', async () => {
  vi.stubEnv('PATH', '');
  const found = await ensureOnnxEngine(modelLocation());
  expect(found).toEqual(findOnnxEngine(modelLocation()));
  const other = await createTemporaryDirectory();
  await writeFile(join(other, 'onnxruntime_binding.node'), 'no library');
  expect(() => loadOnnxEngine({ directory: other, isCached: false })).toThrow(
    expect.objectContaining({ kind: 'configuration_error', hint: expect.stringContaining(other) }),
  );
});

/** A copy of the real engine in which a file can be changed. */
async function copyEngine(parent: string): Promise<string> {
  const directory = join(parent, FOLDER);
  await cp(findOnnxEngine(modelLocation())?.directory ?? '', directory, { recursive: true });
  return directory;
}

test.each([
  ['another library', 'libonnxruntime.so.1'],
  ['another addon', 'onnxruntime_binding.node'],
  // The loader would look for it beside the addon first.
  ['a system library that is not one of its files', 'librt.so.1'],
])('does not load %s, whatever a marker says', async (_, file) => {
  const directory = await copyEngine(await createTemporaryDirectory());
  expect(() => assertGenuineEngine({ directory, isCached: true })).not.toThrow();
  const marker = await readFile(`${directory}.checked`, 'utf8');
  await appendFile(join(directory, file), 'x');
  for (const isCached of [true, false]) {
    expect(() => loadOnnxEngine({ directory, isCached })).toThrow(
      expect.objectContaining({ kind: 'configuration_error', message: expect.stringContaining(file) }),
    );
  }
  expect(await readFile(`${directory}.checked`, 'utf8')).toBe(marker);
});

test('hashes the files of other directories each time, and those of the cache after a change', async () => {
  const directory = await copyEngine(await createTemporaryDirectory());
  assertGenuineEngine({ directory, isCached: false });
  expect(existsSync(`${directory}.checked`)).toBe(false);
  assertGenuineEngine({ directory, isCached: true });
  const marker = await readFile(`${directory}.checked`, 'utf8');
  // Same bytes, another file.
  const addon = join(directory, 'onnxruntime_binding.node');
  await writeFile(addon, await readFile(addon));
  assertGenuineEngine({ directory, isCached: true });
  expect(await readFile(`${directory}.checked`, 'utf8')).not.toBe(marker);
});

test('downloads only the given files of a package and reports progress', async () => {
  const large = 'x'.repeat(100_000);
  await packing({ 'package/a.txt': large, 'package/lib/b.txt': 'b', 'package/lib/c.txt': large });
  const progress: [number, number | null][] = [];
  const files = await downloadPackageFiles(
    { name: 'some-package@1.0.0', bytes: 1000 },
    'package/lib',
    ['b.txt', 'c.txt'],
    { onProgress: (...report) => progress.push(report) },
  );
  expect([...files].map(([name, bytes]) => [name, bytes.length])).toEqual([
    ['b.txt', 1],
    ['c.txt', large.length],
  ]);
  expect(progress[0]).toEqual([0, 1000]);
});

test('refuses files that are missing or have another hash than the expected one', () => {
  const sha256OfA = 'ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb';
  const contents = new Map([['a.txt', Buffer.from('a')]]);
  expect(() => assertHashes(contents, { 'a.txt': sha256OfA })).not.toThrow();
  expect(() => assertHashes(contents, { 'a.txt': 'AAAA' })).toThrow('SHA-256');
  expect(() => assertHashes(contents, { 'a.txt': sha256OfA, 'b.txt': 'AAAA' })).toThrow('b.txt is missing');
});

import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTarGzip } from 'nanotar';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ensureOnnxEngine, findOnnxEngine } from '../../../src/adapters/onnx/engine.ts';
import { downloadPackageFiles } from '../../../src/adapters/onnx/fetch-package.ts';
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
    expect(findOnnxEngine(empty)).not.toBe(join(place, FOLDER));
    for (const file of [...FILES, 'libonnxruntime.1.dylib']) await writeFile(join(place, FOLDER, file), '');
    expect(findOnnxEngine(empty)).toBe(join(place, FOLDER));
  }
});

test('finds the engine without the network, and reports a broken one with what to do', async () => {
  vi.stubEnv('PATH', '');
  const found = await ensureOnnxEngine(modelLocation());
  expect(found).toBe(findOnnxEngine(modelLocation()));
  const other = await createTemporaryDirectory();
  await writeFile(join(other, 'onnxruntime_binding.node'), 'no library');
  expect(() => loadOnnxEngine(other)).toThrow(
    expect.objectContaining({ kind: 'configuration_error', hint: expect.stringContaining(other) }),
  );
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

test('refuses a package with another hash than the expected one', async () => {
  await packing({ 'package/a.txt': 'a' });
  const integrity = 'sha512-AAAA';
  const fetching = downloadPackageFiles(
    { name: 'some-package@1.0.0', bytes: 1000, integrity },
    'package',
    ['a.txt'],
    {},
  );
  await expect(fetching).rejects.toThrow('SHA-512');
});

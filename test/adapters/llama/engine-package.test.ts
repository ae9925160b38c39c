import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findEngine, installCommand, requireEngine } from '../../../src/adapters/llama/engine-package.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

test('where the engine is missing, one sentence says what to install on this platform', async () => {
  const directory = await temporaryDirectory();
  expect(findEngine(directory)).toBeNull();
  expect(() => requireEngine(directory)).toThrow(
    expect.objectContaining({
      kind: 'configuration_error',
      message: 'A model in a GGUF file is run by node-llama-cpp 3.22.1, which is not installed.',
      hint: expect.stringContaining(`npm i --prefix ${directory} node-llama-cpp@3.22.1 @node-llama-cpp/`),
    }),
  );
});

test('every platform is told the library of its own', () => {
  const command = installCommand('/e', 'darwin', 'arm64');
  expect(command).toBe(
    'npm i --prefix /e node-llama-cpp@3.22.1 @node-llama-cpp/mac-arm64-metal@3.22.1 --omit=optional --ignore-scripts',
  );
  expect(installCommand('C:\\My engine', 'win32', 'x64')).toContain('"C:\\\\My engine"');
  expect(installCommand('/e', 'aix', 'ppc64')).toBeNull();
});

test('an engine of another version is named with where it lies', async () => {
  const directory = await temporaryDirectory();
  const place = join(directory, 'node_modules/node-llama-cpp');
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, 'package.json'), JSON.stringify({ version: '2.8.16' }));
  expect(() => requireEngine(directory)).toThrow(
    expect.objectContaining({
      message: `The node-llama-cpp in ${place} is of version 2.8.16, and this program knows 3.22.1.`,
    }),
  );
});

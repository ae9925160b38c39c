import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCli } from '../support/run-cli.ts';
import { createTemporaryDirectory } from '../support/temporary-directory.ts';

test('--help loads no package', async () => {
  const home = await createTemporaryDirectory();
  const coverage = join(home, 'coverage');
  expect(await runCli(['--help'], { home, env: { NODE_V8_COVERAGE: coverage } })).toMatchObject({ code: 0 });
  const scripts = globSync(join(coverage, '*.json')).flatMap((file) => {
    const { result } = JSON.parse(readFileSync(file, 'utf8')) as { result: { url: string }[] };
    return result.map(({ url }) => url);
  });
  expect(scripts.some((url) => url.endsWith('/dist/main.js'))).toBe(true);
  expect(scripts.filter((url) => url.includes('/node_modules/'))).toEqual([]);
});

test('the thread of the embedding model loads no package but the engine', () => {
  const pending = ['model-worker.js'];
  const packages = new Set<string>();
  for (const file of pending) {
    for (const [, imported = ''] of readFileSync(join('dist', file), 'utf8').matchAll(
      /(?:from|import)"([^"]+)"/g,
    )) {
      const chunk = imported.replace('./', '');
      if (!imported.startsWith('.')) packages.add(imported);
      else if (!pending.includes(chunk)) pending.push(chunk);
    }
  }
  expect([...packages].filter((name) => !name.startsWith('node:'))).toEqual(['onnxruntime-common']);
});

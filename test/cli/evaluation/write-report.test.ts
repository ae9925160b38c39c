import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createApp } from '../../../src/app/create-app.ts';
import { writeReport } from '../../../src/cli/evaluation/write-report.ts';
import { loadConfig } from '../../../src/config/load-config.ts';
import { syntheticReport } from '../../evaluation/report/synthetic-report.ts';
import { createTemporaryDirectory } from '../../support/temporary-directory.ts';

const KEY = 'grey:heron=4411';
const NPM_TOKEN = `npm_${'a1B2'.repeat(9)}`;

test('redacts keys and tokens in every output', async () => {
  const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  onTestFinished(() => written.mockRestore());
  const report = syntheticReport({ cases: 3 });
  for (const { results } of report.cases) {
    for (const run of Object.values(results).flatMap(({ runs }) => runs)) {
      run.answer = `It is ${NPM_TOKEN}.`;
      for (const chunk of run.retrievals.flatMap(({ chunks }) => chunks)) chunk.excerpt = `You sent ${KEY}.`;
    }
  }
  const home = await createTemporaryDirectory();
  const app = createApp(loadConfig({ flags: { home }, env: { COHERE_API_KEY: KEY }, cwd: home }));
  const paths = ['json', 'html', 'markdown'].map((name) => [name, join(home, name)]);
  await writeReport(report, app, Object.fromEntries(paths));
  const files = await Promise.all(paths.map(([, path = '']) => readFile(path, 'utf8')));
  expect(files[0]).toContain('It is [redacted].');
  for (const text of [...files, ...written.mock.calls.map(([part]) => String(part))]) {
    expect(text).not.toMatch(/npm_a1B2|grey:heron/);
  }
});

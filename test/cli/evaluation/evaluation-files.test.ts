import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { writeOutputs } from '../../../src/cli/evaluation/evaluation-files.ts';
import { createRedactor } from '../../../src/faults/redactor.ts';
import { syntheticReport } from '../../evaluation/report/synthetic-report.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const KEY = 'grey:heron=4411';
const NPM = `npm_${'a1B2'.repeat(9)}`;

test('no report holds a key that a service has repeated, or a token out of a document', async () => {
  const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  onTestFinished(() => written.mockRestore());
  const report = syntheticReport({ cases: 3 });
  for (const { results } of report.cases) {
    for (const run of Object.values(results).flatMap(({ runs }) => runs)) {
      run.answer = `It is ${NPM}.`;
      for (const chunk of run.retrievals.flatMap(({ chunks }) => chunks)) chunk.excerpt = `You sent ${KEY}.`;
    }
  }
  const directory = await temporaryDirectory();
  const paths = ['json', 'html', 'junit', 'markdown'].map((name) => [name, join(directory, name)]);
  await writeOutputs(createRedactor({ secrets: [KEY] }).value(report), Object.fromEntries(paths), {
    kept: null,
    diff: null,
  });
  const files = await Promise.all(paths.map(([, path = '']) => readFile(path, 'utf8')));
  expect(files[0]).toContain('It is [redacted].');
  for (const text of [...files, ...written.mock.calls.map(([part]) => String(part))]) {
    expect(text).not.toMatch(/npm_a1B2|grey:heron/);
  }
});

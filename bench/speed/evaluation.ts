import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createApp } from '../../src/app/create-app.ts';
import { SAMPLE_COLLECTION } from '../../src/app/open-collection.ts';
import { runEvaluation } from '../../src/cli/evaluation/evaluate.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { formatCases, parseCases } from '../../src/evaluation/cases/parse-cases.ts';
import { allMetrics } from '../../src/evaluation/metrics/all-metrics.ts';
import { assembleReport } from '../../src/evaluation/report/assemble-report.ts';
import { combineArmSettings } from '../../src/evaluation/run/plan-arms.ts';
import { withTemporaryDirectory } from '../support/measure.ts';
import { type BenchmarkRow, createNote, createRow } from '../support/results.ts';
import {
  createSyntheticArm,
  createSyntheticCases,
  createSyntheticHeader,
} from '../support/synthetic-evaluation.ts';

const CASES = fileURLToPath(new URL('../../fixtures/cases/book.jsonl', import.meta.url));
const CASE_COUNT = 120;
const STATISTICS_CASES = 10_000;

/** Measures the overhead of an evaluation over its turns, and the statistics. */
export async function benchEvaluation(): Promise<BenchmarkRow[]> {
  return [statisticsRow(), ...(await runRows())];
}

function statisticsRow(): BenchmarkRow {
  const cases = createSyntheticCases(STATISTICS_CASES);
  const arms = [createSyntheticArm('tool', cases, 0.7, 1), createSyntheticArm('always', cases, 0.72, 2)];
  const started = performance.now();
  assembleReport({ header: createSyntheticHeader(cases.length), cases, arms, metrics: allMetrics });
  const seconds = (performance.now() - started) / 1000;
  return createRow(`evaluation: statistics of ${STATISTICS_CASES} cases, two arms`, seconds, 's', {
    target: { of: 'value', atMost: 2 },
  });
}

async function runRows(): Promise<BenchmarkRow[]> {
  if (!existsSync(CASES)) return [createNote('evaluation: fixtures/cases/book.jsonl is missing', null)];
  const cases = parseCases(await readFile(CASES, 'utf8'), CASES);
  // Evenly spaced, so that all kinds of cases are included.
  const sample = Array.from(
    { length: CASE_COUNT },
    (_, index) => cases[Math.floor((index * cases.length) / CASE_COUNT)],
  ).flatMap((item) => item ?? []);
  return withTemporaryDirectory(async (home) => {
    const file = join(home, 'cases.jsonl');
    await writeFile(file, formatCases(sample, file));
    const app = createApp(loadConfig({ flags: { home, collection: SAMPLE_COLLECTION } }));
    const plan = {
      mode: 'hybrid',
      arms: combineArmSettings({ policies: ['tool', 'always', 'first', 'never'] }),
    } as const;
    const run = { signal: new AbortController().signal, tape: null };
    try {
      // The first run indexes the sample book, which is not measured.
      await runEvaluation(app, { cases: file, tag: sample[0]?.tags ?? [], fresh: true }, plan, run);
      const started = performance.now();
      const report = await runEvaluation(app, { cases: file, concurrency: 1 }, plan, run);
      const serial = (performance.now() - started) / 1000;
      const turns = report.cases.flatMap(({ results }) => Object.values(results).flatMap(({ runs }) => runs));
      const sum = turns.reduce((total, { timesMs }) => total + timesMs.total, 0) / 1000;
      const again = performance.now();
      await runEvaluation(app, { cases: file }, plan, run);
      const usual = (performance.now() - again) / 1000;
      return [
        createRow(
          `evaluation: ${sample.length} cases, four policies, offline, one at a time, compared with the sum of its turns`,
          serial,
          's',
          {
            ratio: serial / sum,
            target: { of: 'ratio', atMost: 1.2 },
          },
        ),
        createRow(`evaluation: ${sample.length} cases, four policies, offline`, usual, 's', {
          target: { of: 'value', atMost: 60 },
        }),
      ];
    } finally {
      await app.close();
    }
  });
}

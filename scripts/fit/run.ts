import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { loadDefaultEmbedder } from '../../bench/support/load-embedder.ts';
import { alignColumns } from '../../bench/support/results.ts';
import { createEncodingCache } from './encoding-cache.ts';
import { CACHE } from './feature-cache.ts';
import { areaUnderCurve, balancedAccuracy, calibrationError, type Scored } from './metrics.ts';
import { supportExamples } from './support-examples.ts';
import { fitSupport } from './support-fit.ts';
import { DATA, readSupportSet, SUPPORT_SETS } from './support-sets.ts';

// Fits the support network on the labelled sets and prints its cross-validated accuracy: npm run fit. Deterministic.

const WEIGHTS = fileURLToPath(new URL('../../src/judge/weights/', import.meta.url));

const sets = SUPPORT_SETS.map((set) => ({ set, rows: readSupportSet(set) }));
const absent = sets.filter(({ rows }) => rows === null).map(({ set }) => set);
if (absent.length > 0) {
  throw new Error(`${DATA} lacks ${absent.join(', ')}: nothing is fitted.`);
}
const embedder = await loadDefaultEmbedder();
const encoder = createEncodingCache(embedder, CACHE);
const rows = sets.flatMap((one) => one.rows ?? []);
const features = [];
for (const { set, rows: ofSet } of sets) {
  print(`${set}: ${ofSet?.length} rows`);
  features.push(...(await supportExamples(set, ofSet ?? [], encoder)));
}
await embedder.close();

const support = fitSupport(rows, features);
const { byFold } = support;
const bySource = support.bySource();
const byFile = support.byFile();
const scored = (chances: readonly number[], of: (index: number) => boolean): Scored[] =>
  rows.flatMap(({ supported }, index) =>
    of(index)
      ? [{ positive: supported, chance: chances[index] ?? 0, weight: support.evenly[index] ?? 0 }]
      : [],
  );
const measured = (chances: readonly number[], of: (index: number) => boolean) => {
  const cases = scored(chances, of);
  return [balancedAccuracy(cases), areaUnderCurve(cases), calibrationError(cases)].map((value) =>
    value.toFixed(3),
  );
};
const parts = [
  ...new Set(rows.map(({ set }) => set)),
  ...new Set(rows.filter(({ set }) => set === 'attributionbench_dev').map(({ source }) => source)),
];
const lines = parts.map((part) => {
  const of = (index: number) => rows[index]?.set === part || rows[index]?.source === part;
  return [part, ...measured(byFold, of), ...measured(bySource, of), ...measured(byFile, of)];
});
lines.push(['all', ...[byFold, bySource, byFile].flatMap((chances) => measured(chances, () => true))]);
const header = ['five folds', 'without the source', 'without the file'].flatMap((how) => [
  `${how}: balanced accuracy`,
  'AUC',
  'calibration error',
]);
print(alignColumns([['support', ...header], ...lines], [1, 2, 3, 4, 5, 6, 7, 8, 9]));

mkdirSync(WEIGHTS, { recursive: true });
writeFileSync(`${WEIGHTS}support.json`, `${JSON.stringify(support.network())}\n`);
writeFileSync(
  `${CACHE}/validation.json`,
  JSON.stringify({
    rows: rows.map(({ id, set, source, label }) => ({ id, set, source, label })),
    features,
    support: { byFold, bySource, byFile },
  }),
);

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

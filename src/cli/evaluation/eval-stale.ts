import { openCollection } from '../../app/open-collection.ts';
import type { EvaluationCase, GoldPin } from '../../evaluation/cases/evaluation-case.ts';
import { parseCases } from '../../evaluation/cases/parse-cases.ts';
import {
  findStaleCases,
  type GoldPins,
  needsReview,
  type StaleCase,
  type StaleGold,
  toGoldKey,
} from '../../evaluation/cases/stale-cases.ts';
import { AppError } from '../../faults/app-error.ts';
import { EXIT_DONE, exitCodeOf } from '../../faults/exit-code.ts';
import { counted, quoted } from '../../text/phrasing.ts';
import { oneLine } from '../../text/visible-text.ts';
import { withApp } from '../commands/with-app.ts';
import type { CommonFlags } from '../flags/common-flags.ts';
import { paged } from '../terminal/paged.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { renderText } from '../terminal/wrapping.ts';
import { readInputFile } from './evaluation-files.ts';
import { findReport, listRuns } from './run-archive.ts';

export interface EvalStaleFlags extends Omit<CommonFlags, 'json'> {
  /** Set, even to an empty string: print JSON. */
  json?: string | undefined;
  cases?: string | undefined;
  /** The report or run to compare with, by default the last run. */
  since?: string | undefined;
}

const EXIT_STALE = exitCodeOf(new AppError('replay_drift', ''));

/** Lists cases whose expected sources or chunks changed since a run. Returns exit code 7 if one needs a review. */
export function runEvalStale({ cases: file = '', since, json, ...flags }: EvalStaleFlags): Promise<number> {
  return withApp({ flags }, async (app, { signal }) => {
    const all = parseCases(await readInputFile(file, 'Case file'), file);
    const cases = all.filter(({ expectedSources, expectedChunks }) => expectedSources ?? expectedChunks);
    const store = await openCollection(app, signal);
    try {
      const pins = await readPins(app.config.home, since, cases);
      const documents = await Array.fromAsync(store.documents());
      const stale = await findStaleCases(cases, { store, documents, pins });
      const unknown = cases.filter(({ id }) => !pins.has(id)).map(({ id }) => id);
      const result = { cases: all.length, checked: cases.length, stale, unknown };
      if (json !== undefined) process.stdout.write(`${JSON.stringify(result)}\n`);
      else await paged(process, (terminal) => renderStaleCases(terminal, result));
      return stale.some(needsReview) ? EXIT_STALE : EXIT_DONE;
    } finally {
      await store.close();
    }
  });
}

/** The pins of these cases in a report; none if there is no run yet. */
async function readPins(
  home: string,
  since: string | undefined,
  cases: readonly EvaluationCase[],
): Promise<GoldPins> {
  if (since === undefined && (await listRuns(home)).length === 0) return new Map();
  const { report } = await findReport(home, since ?? 'last');
  const pinned = new Map(report.cases.flatMap(({ gold }) => (gold === null ? [] : [[gold.key, gold.pins]])));
  return new Map(
    cases.flatMap((item): [string, readonly GoldPin[]][] => {
      const pins = pinned.get(toGoldKey(item));
      return pins === undefined ? [] : [[item.id, pins]];
    }),
  );
}

interface StaleResult {
  cases: number;
  /** Cases with expected sources or chunks. */
  checked: number;
  stale: readonly StaleCase[];
  /** Checked cases that are not in the run. */
  unknown: readonly string[];
}

function renderStaleCases(terminal: Terminal, { cases, checked, stale, unknown }: StaleResult): void {
  for (const { id, question, gold, missing } of stale) {
    terminal.write(`${terminal.text(oneLine(id, 80), 'bold')}\n`);
    renderText(terminal, oneLine(question, 200));
    for (const one of gold) terminal.write(`  ${terminal.text(formatStaleGold(one), 'yellow')}\n`);
    if (missing === null) continue;
    const phrases =
      missing.length === 0
        ? terminal.text('all expected phrases are still there', 'dim')
        : terminal.text(`missing phrases: ${missing.map(quoted).join(', ')}`, 'red');
    terminal.write(`  ${phrases}\n`);
  }
  const review = stale.filter(needsReview).length;
  if (stale.length > 0) renderText(terminal, `${review} of ${counted(cases, 'case')} to review.`);
  else if (checked > unknown.length) {
    renderText(terminal, `The sources of ${counted(checked - unknown.length, 'case')} are unchanged.`);
  }
  if (unknown.length > 0) {
    renderText(
      terminal,
      `${counted(unknown.length, 'case')} not in the run: only the existence of the sources was checked. Run "citeloop eval" first.`,
    );
  }
}

function formatStaleGold(gold: StaleGold): string {
  const expected = oneLine(gold.expected, 120);
  switch (gold.became) {
    case 'changed':
      return `${expected}: content changed`;
    case 'vanished':
      return `${expected}: not in the collection`;
    case 'gone':
      return `${expected}: file deleted; run "citeloop ingest --prune" to remove it`;
    case 'moved':
      return `${expected}: moved to ${gold.to === gold.url ? gold.to : `${gold.to} (${oneLine(gold.url, 120)})`}`;
  }
}

import { openCollection } from '../../app/open-collection.ts';
import type { EvaluationCase } from '../../evaluation/cases/evaluation-case.ts';
import { parseCases } from '../../evaluation/cases/parse-cases.ts';
import {
  findStaleCases,
  type GoldPins,
  needsReview,
  type StaleCase,
} from '../../evaluation/cases/stale-cases.ts';
import { AppError } from '../../faults/app-error.ts';
import { EXIT_SUCCESS, exitCodeOf } from '../../faults/exit-code.ts';
import { formatCount, quoteName } from '../../text/format-count.ts';
import { oneLine } from '../../text/visible-text.ts';
import { withApp } from '../commands/with-app.ts';
import { withPager } from '../terminal/pager.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { renderText } from '../terminal/wrap-text.ts';
import { type JsonCommandFlags, readInputFile } from './evaluation-files.ts';
import { findReport, listArchivedRuns } from './run-archive.ts';

export interface EvalStaleFlags extends JsonCommandFlags {
  cases?: string | undefined;
  /** The report or run to compare with, by default the last run. */
  since?: string | undefined;
}

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
      else await withPager(process, (terminal) => renderStaleCases(terminal, result));
      return stale.some(needsReview) ? exitCodeOf(new AppError('replay_drift', '')) : EXIT_SUCCESS;
    } finally {
      await store.close();
    }
  });
}

/** The pins of cases with the same id and question in a report; none if there is no run yet. */
async function readPins(
  home: string,
  since: string | undefined,
  cases: readonly EvaluationCase[],
): Promise<GoldPins> {
  if (since === undefined && (await listArchivedRuns(home)).length === 0) return new Map();
  const { report } = await findReport(home, since ?? 'last');
  const questions = new Map(cases.map(({ id, question }) => [id, question]));
  return new Map(
    report.cases.flatMap(({ id, question, gold }) =>
      gold !== null && questions.get(id) === question ? [[id, gold.pins] as const] : [],
    ),
  );
}

function renderStaleCases(
  terminal: Terminal,
  {
    cases,
    checked,
    stale,
    unknown,
  }: { cases: number; checked: number; stale: StaleCase[]; unknown: string[] },
): void {
  const line = (...parts: Parameters<Terminal['text']>) => terminal.write(`${terminal.text(...parts)}\n`);
  for (const { id, question, gold, missing } of stale) {
    line(oneLine(id, 80), 'bold');
    renderText(terminal, oneLine(question, 200));
    for (const one of gold) line(`  ${oneLine(one.expected, 120)}: ${formatChange(one)}`, 'yellow');
    if (missing?.length === 0) line('  all expected phrases are still there', 'dim');
    else if (missing !== null) line(`  missing phrases: ${missing.map(quoteName).join(', ')}`, 'red');
  }
  const known = checked - unknown.length;
  const review = stale.filter(needsReview).length;
  if (stale.length > 0) renderText(terminal, `${review} of ${formatCount(cases, 'case')} to review.`);
  else if (known > 0) renderText(terminal, `The sources of ${formatCount(known, 'case')} are unchanged.`);
  if (unknown.length === 0) return;
  renderText(
    terminal,
    `${formatCount(unknown.length, 'case')} not in the run: only the existence of the sources was checked. Run "citeloop eval" first.`,
  );
}

function formatChange(gold: StaleCase['gold'][number]): string {
  switch (gold.became) {
    case 'changed':
      return 'content changed';
    case 'vanished':
      return 'not in the collection';
    case 'gone':
      return 'file deleted; run "citeloop ingest --prune" to remove it';
    case 'moved':
      return `moved to ${gold.to === gold.url ? gold.to : `${gold.to} (${oneLine(gold.url, 120)})`}`;
  }
}

import { openCollection } from '../../app/open-collection.ts';
import type { EvaluationCase, GoldPin } from '../../evaluation/cases/evaluation-case.ts';
import { type GoldPins, goldKey, pinGold } from '../../evaluation/cases/gold-pins.ts';
import { parseCases } from '../../evaluation/cases/read-cases.ts';
import {
  findStaleCases,
  needsReview,
  type StaleCase,
  type StaleGold,
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
import { readGoldPins, saveGoldPins } from './gold-snapshots.ts';
import { findReport } from './run-archive.ts';

export interface EvalStaleFlags extends Omit<CommonFlags, 'json'> {
  /** Set, even to an empty string: print JSON. */
  json?: string | undefined;
  cases?: string | undefined;
  /** A report or run to compare with, instead of the first measurement. */
  since?: string | undefined;
  /** Saves the present content as the gold. */
  accept?: boolean | undefined;
}

const EXIT_STALE = exitCodeOf(new AppError('replay_drift', ''));

/** Lists cases whose expected sources or chunks changed. Returns exit code 7 if one needs a review. */
export function runEvalStale({
  cases: file = '',
  since,
  accept = false,
  json,
  ...flags
}: EvalStaleFlags): Promise<number> {
  return withApp({ flags }, async (app, { signal }) => {
    const { home } = app.config;
    const all = parseCases(await readInputFile(file, 'Case file'), file);
    const cases = all.filter(({ expectedSources, expectedChunks }) => expectedSources ?? expectedChunks);
    const store = await openCollection(app, signal);
    try {
      const collection = store.name;
      const pins =
        since === undefined
          ? await readGoldPins(home, collection, cases)
          : await readReportPins(home, since, cases);
      const documents = await Array.fromAsync(store.documents());
      const stale = await findStaleCases(cases, { store, documents, pins });
      if (accept) {
        const date = app.runtime.now().toISOString();
        await saveGoldPins(home, cases, await pinGold(cases, store, documents), {
          collection,
          date,
          overwrite: true,
        });
      }
      const result = {
        cases: all.length,
        resting: cases.length,
        stale,
        unknown: cases.filter(({ id }) => !pins.has(id)).map(({ id }) => id),
        accepted: accept,
      };
      if (json !== undefined) process.stdout.write(`${JSON.stringify(result)}\n`);
      else await paged(process, (terminal) => renderStaleCases(terminal, result));
      return !accept && stale.some(needsReview) ? EXIT_STALE : EXIT_DONE;
    } finally {
      await store.close();
    }
  });
}

async function readReportPins(
  home: string,
  reference: string,
  cases: readonly EvaluationCase[],
): Promise<GoldPins> {
  const { report } = await findReport(home, reference);
  const pinned = new Map(report.cases.flatMap(({ gold }) => (gold === null ? [] : [[gold.key, gold.pins]])));
  return new Map(
    cases.flatMap((item): [string, readonly GoldPin[]][] => {
      const pins = pinned.get(goldKey(item));
      return pins === undefined ? [] : [[item.id, pins]];
    }),
  );
}

interface StaleResult {
  cases: number;
  /** The number of cases that name sources or chunks. */
  resting: number;
  stale: readonly StaleCase[];
  /** Cases without saved content. */
  unknown: readonly string[];
  accepted: boolean;
}

function renderStaleCases(
  terminal: Terminal,
  { cases, resting, stale, unknown, accepted }: StaleResult,
): void {
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
  if (accepted) {
    renderText(terminal, `Saved the present content of the sources of ${counted(resting, 'case')}.`);
    return;
  }
  const review = stale.filter(needsReview).length;
  const unaffected = stale.length - review;
  if (stale.length > 0) {
    const more = unaffected === 0 ? '' : ` ${unaffected} more changed but contain all expected phrases.`;
    renderText(terminal, `${review} of ${counted(cases, 'case')} to review.${more}`);
  } else if (resting > unknown.length) {
    renderText(terminal, `The sources of ${counted(resting - unknown.length, 'case')} are unchanged.`);
  }
  if (unknown.length > 0) {
    renderText(
      terminal,
      `${counted(unknown.length, 'case')} never measured: only the existence of the sources was checked. Run "citeloop eval", or save the present content with --accept.`,
    );
  }
  if (review > 0) renderText(terminal, 'Correct the cases, or accept the present content with --accept.');
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

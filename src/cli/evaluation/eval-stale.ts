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
import { type Terminal, wrapWidth } from '../terminal/terminal.ts';
import { renderText, wrap } from '../terminal/wrapping.ts';
import { readInputFile } from './evaluation-files.ts';
import { readGoldPins, saveGoldPins } from './gold-snapshots.ts';
import { findReport } from './run-archive.ts';

export interface EvalStaleFlags extends Omit<CommonFlags, 'json'> {
  /** Given at all: as JSON. */
  json?: string | undefined;
  cases?: string | undefined;
  /** A report or a kept run to compare with, instead of when the gold was first measured. */
  since?: string | undefined;
  /** Take what the documents say now as what the gold rests on. */
  accept?: boolean | undefined;
}

const DRIFT = exitCodeOf(new AppError('replay_drift', ''));

/** Lists cases whose expected sources or chunks are no longer what or where they were. Exit code 7 if one is to be looked at. */
export function runEvalStale({
  cases: file = '',
  since,
  accept,
  json,
  ...flags
}: EvalStaleFlags): Promise<number> {
  return withApp({ flags }, async (app, { signal }) => {
    const { home } = app.config;
    const all = parseCases(await readInputFile(file, 'The file of cases'), file);
    const resting = all.filter(({ expectedSources, expectedChunks }) => expectedSources ?? expectedChunks);
    const store = await openCollection(app, signal);
    try {
      const pins =
        since === undefined
          ? await readGoldPins(home, store.name, resting)
          : await pinsOfReport(home, since, resting);
      const documents = await Array.fromAsync(store.documents());
      const stale = await findStaleCases(resting, { store, documents, pins });
      const unknown = resting.filter(({ id }) => !pins.has(id)).map(({ id }) => id);
      if (accept) {
        const now = await pinGold(resting, store, documents);
        const date = app.runtime.now().toISOString();
        await saveGoldPins(home, resting, now, { collection: store.name, date, overwrite: true });
      }
      const looked = {
        cases: all.length,
        resting: resting.length,
        stale,
        unknown,
        accepted: accept === true,
      };
      if (json !== undefined) process.stdout.write(`${JSON.stringify(looked)}\n`);
      else await paged(process, (terminal) => renderStaleCases(terminal, looked));
      return !accept && stale.some(needsReview) ? DRIFT : EXIT_DONE;
    } finally {
      await store.close();
    }
  });
}

/** What a report says that the gold of these cases rested on. */
async function pinsOfReport(
  home: string,
  called: string,
  cases: readonly EvaluationCase[],
): Promise<GoldPins> {
  const { report } = await findReport(home, called);
  const pinned = new Map(report.cases.flatMap(({ gold }) => (gold === null ? [] : [[gold.key, gold.pins]])));
  return new Map(
    cases.flatMap((item): [string, readonly GoldPin[]][] => {
      const pins = pinned.get(goldKey(item));
      return pins === undefined ? [] : [[item.id, pins]];
    }),
  );
}

interface Looked {
  cases: number;
  /** Those that name sources or chunks. */
  resting: number;
  stale: readonly StaleCase[];
  /** Cases of which nobody noted what their sources said. */
  unknown: readonly string[];
  accepted: boolean;
}

function renderStaleCases(terminal: Terminal, { cases, resting, stale, unknown, accepted }: Looked): void {
  const dim = (text: string) => {
    for (const line of wrap(text, wrapWidth(terminal))) terminal.write(`${terminal.text(line, 'dim')}\n`);
  };
  for (const { id, question, gold, missing } of stale) {
    terminal.write(`${terminal.text(oneLine(id, 80), 'bold')}\n`);
    renderText(terminal, oneLine(question, 200));
    for (const one of gold) terminal.write(`  ${terminal.text(goldWords(one), 'yellow')}\n`);
    if (missing === null) continue;
    const held =
      missing.length === 0
        ? terminal.text('every expected phrase still stands there', 'dim')
        : terminal.text(`no longer there: ${missing.map(quoted).join(', ')}`, 'red');
    terminal.write(`  ${held}\n`);
  }
  if (accepted) {
    return void renderText(
      terminal,
      `What the documents say now is noted for ${counted(resting, 'case')} of ${cases}.`,
    );
  }
  const looking = stale.filter(needsReview).length;
  const known = resting - unknown.length;
  if (stale.length > 0) {
    const fine = stale.length - looking;
    const more = fine === 0 ? '' : `; ${fine} more whose sources changed but hold the expected phrases`;
    renderText(terminal, `${looking} of ${counted(cases, 'case')} to look at${more}.`);
  } else if (known > 0) {
    renderText(terminal, `What ${counted(known, 'case')} of ${cases} rest on is as it was.`);
  }
  if (unknown.length > 0) {
    dim(
      `Of ${counted(unknown.length, 'case')} nobody noted what the sources said, only whether they are there: measure them once with citeloop eval, or note it with --accept.`,
    );
  }
  if (looking > 0) dim('Correct the cases, or take what the documents say now: --accept');
}

function goldWords(gold: StaleGold): string {
  const expected = oneLine(gold.expected, 120);
  switch (gold.became) {
    case 'changed':
      return `${expected}: says something else now`;
    case 'vanished':
      return `${expected}: is no longer in the collection`;
    case 'gone':
      return `${expected}: the file is gone; ingest --prune forgets it`;
    case 'moved':
      return `${expected}: moved to ${gold.to === gold.url ? gold.to : `${gold.to} (${oneLine(gold.url, 120)})`}`;
  }
}

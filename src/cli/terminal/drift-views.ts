import { formatDifference } from '../../tape/diff-values.ts';
import type { AskedAgain, AskedSample } from '../../tape/drift/ask-again.ts';
import type { TapeDifference } from '../../tape/drift/diff-tapes.ts';
import { oneLine } from '../../text/visible-text.ts';
import type { Terminal } from './terminal.ts';

const SHOWN_DIFFERENCES = 6;
const SHOWN_CALLS = 20;

/** Where two tapes differ, for people. */
export function renderTapeDifference(
  terminal: Terminal,
  {
    before,
    after,
    same,
    run,
    exchanges,
    outputs,
    counts,
  }: TapeDifference & { before: string; after: string },
): void {
  const line = (text: string) => terminal.write(`${terminal.text(text)}\n`);
  const verdict = same ? terminal.text('same', 'green') : terminal.text('different', 'red');
  const names = terminal.text(`${oneLine(before, 150)} -> ${oneLine(after, 150)}`, 'bold');
  terminal.write(
    `${names}: ${verdict} ${terminal.text(`(${counts.before} and ${counts.after} calls)`, 'dim')}\n`,
  );
  const list = (title: string, differences: TapeDifference['run']) => {
    if (differences.length > 0) line(title);
    for (const each of differences.slice(0, SHOWN_DIFFERENCES)) line(formatDifference(each));
    if (differences.length > SHOWN_DIFFERENCES) line(`  and ${differences.length - SHOWN_DIFFERENCES} more`);
  };
  list('How the run was asked for:', run);
  for (const { kind, before: was, after: is, request, differences } of exchanges.slice(0, SHOWN_CALLS)) {
    const number = was === null || is === null || was === is ? `${is ?? was}` : `${was} (now ${is})`;
    const call = `Call ${number}, ${oneLine(request, 80)}, ${kind}`;
    if (differences.length === 0) line(`${call}.`);
    else list(`${call}:`, differences);
  }
  if (exchanges.length > SHOWN_CALLS) line(`and ${exchanges.length - SHOWN_CALLS} more calls`);
  list('What it came to:', outputs);
}

/** A call that was made again, on a line, and what is different about its answer. */
export function renderAsked(terminal: Terminal, { tape, exchange, request, changes }: AskedAgain): void {
  const verdict = changes.length === 0 ? terminal.text('same', 'green') : terminal.text('changed', 'red');
  const place = terminal.text(`${oneLine(tape, 120)}, call ${exchange}, ${oneLine(request, 60)}`);
  terminal.write(`${place}: ${verdict}\n`);
  for (const { kind, detail } of changes) terminal.write(`${terminal.text(`  ${kind}: ${detail}`)}\n`);
}

/** How many changed and in what, what was left out, and what it cost. */
export function renderSample(
  terminal: Terminal,
  { asked, left, spent, drifted, currency }: AskedSample & { drifted: number; currency: string | null },
): void {
  const line = (text: string) => terminal.write(`${terminal.text(text)}\n`);
  const kinds = Map.groupBy(
    asked.flatMap(({ changes }) => changes),
    ({ kind }) => kind,
  );
  const counted = Array.from(kinds, ([kind, all]) => `${kind} ${all.length}`).join(', ');
  const cost = spent === null ? '' : `, for ${spent.toFixed(4)} ${currency ?? ''}`.trimEnd();
  line(`${asked.length} asked again${cost}: ${counted === '' ? 'all as recorded' : counted}.`);
  if (drifted > 0)
    line('Record the tapes again where the change is meant to stay (--record, or --on-miss record).');
  for (const { reason, calls } of left) line(`${calls} not asked: ${reason}.`);
}

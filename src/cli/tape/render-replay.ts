import { oneLine } from '../../domain/visible-text.ts';
import type { Difference } from '../../tape/diff-values.ts';
import { formatDifference } from '../../tape/explain-miss.ts';
import type { RunOutputs } from '../../tape/run-outputs.ts';
import type { TapeJson } from '../../tape/tape-format.ts';
import type { Terminal } from '../terminal.ts';

const SHOWN = 12;

/** What came of running a tape again. */
export interface ReplayResult {
  tape: string;
  command: string | null;
  /** Settings other than the recorded ones. */
  changed: Record<string, TapeJson>;
  ok: boolean;
  turns: number;
  /** The first turn that did not go as it was recorded, from 1. */
  partedAtTurn: number | null;
  differences: Difference[];
  collectionChanged: boolean | null;
  exchanges: { recorded: number; used: number; repeated: number; missed: number };
  missing: { message: string; hint: string }[];
  /** Whether what was missing was taken from the live service. */
  live: boolean;
  renewed: boolean;
  outputs: RunOutputs;
}

export function renderReplay(terminal: Terminal, result: ReplayResult): void {
  const { changed, differences, exchanges, missing, partedAtTurn } = result;
  const fork = Object.entries(changed).map(([name, value]) => `${name} ${String(value)}`);
  const verdict =
    differences.length === 0 && missing.length === 0
      ? terminal.text('same', 'green')
      : terminal.text(fork.length > 0 ? 'parts' : 'drifted', fork.length > 0 ? 'yellow' : 'red');
  const line = (text: string) => terminal.write(`${terminal.text(text)}\n`);
  const used = `${exchanges.used} of ${exchanges.recorded} exchanges used`;
  const turns = result.turns === 0 ? '' : `, ${result.turns === 1 ? '1 turn' : `${result.turns} turns`}`;
  const settings = fork.length > 0 ? ` with ${oneLine(fork.join(', '), 80)}` : '';
  terminal.write(
    `${terminal.text(oneLine(result.tape, 200), 'bold')}${terminal.text(settings)}: ${verdict} ${terminal.text(`(${used}${turns})`, 'dim')}\n`,
  );
  if (partedAtTurn !== null) line(`  The two part at turn ${partedAtTurn}.`);
  for (const difference of differences.slice(0, SHOWN)) line(formatDifference(difference));
  if (differences.length > SHOWN) line(`  and ${differences.length - SHOWN} more differences`);
  if (result.collectionChanged === true && differences.length + missing.length > 0) {
    line('  The collection holds other documents than when it was recorded: different chunks.');
  }
  if (exchanges.repeated > 0) line(`  ${exchanges.repeated} calls were made more often than recorded.`);
  renderMissing(line, result);
  if (result.renewed) line('  The tape is renewed.');
}

function renderMissing(line: (text: string) => void, { missing, live }: ReplayResult): void {
  const [first] = missing;
  if (first === undefined) return;
  const calls = missing.length === 1 ? '1 call' : `${missing.length} calls`;
  if (live) {
    line(`  ${calls} not on the tape ${missing.length === 1 ? 'was' : 'were'} taken from the live service.`);
    return;
  }
  line(`  It would need ${calls} that the tape does not have (--on-miss passthrough or record). The first:`);
  line(`  ${first.message}`);
  for (const each of first.hint.split('\n')) line(`  ${each}`);
}

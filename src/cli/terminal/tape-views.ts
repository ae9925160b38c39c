import { formatDifference } from '../../tape/diff-values.ts';
import type { Tape } from '../../tape/open-tape.ts';
import type { ReplayResult } from '../../tape/replay-result.ts';
import type { TurnOutput } from '../../tape/run-outputs.ts';
import { type Call, tapeSummary } from '../../tape/tape-summary.ts';
import { counted } from '../../text/phrasing.ts';
import { oneLine } from '../../text/visible-text.ts';
import type { Terminal } from './terminal.ts';

const SHOWN_DIFFERENCES = 12;

type WriteLine = (text: string, style?: Parameters<Terminal['text']>[1]) => void;

/** A tape for people: how it was made, the conversation, each call, what was retrieved and cited. */
export function renderTape(terminal: Terminal, tape: Tape): void {
  const { header, complete, edited, calls, outputs } = tapeSummary(tape);
  const line = (text: string, style?: Parameters<Terminal['text']>[1]) =>
    terminal.write(`${terminal.text(text, style)}\n`);
  const by = `${header.madeBy.program} ${header.madeBy.version}${header.madeBy.node ? `, Node ${header.madeBy.node}` : ''}`;
  line(oneLine(tape.path, 300), 'bold');
  line(
    `${header.origin} ${header.origin === 'recorded' ? 'by' : 'for'} ${oneLine(by, 80)} on ${header.createdAt}`,
  );
  const about = [header.command, header.model && `model ${header.model}`].filter(Boolean).join(', ');
  if (about !== '') line(oneLine(about, 120));
  if (header.note !== undefined) line(oneLine(header.note, 300), 'dim');
  if (!complete) line('It is incomplete: its recording was interrupted.', 'yellow');
  if (edited) line('It was changed after it was recorded.', 'yellow');
  const collection = outputs?.collection;
  if (collection)
    line(
      `collection ${collection.name}, ${counted(collection.documents, 'document')}, ${collection.fingerprint}`,
    );

  for (const [index, turn] of (outputs?.turns ?? []).entries()) renderTurn(line, turn, index + 1);
  if (outputs?.search) {
    line('');
    line(`searched: ${oneLine(outputs.search.query, 200)}`, 'bold');
    renderFound(line, outputs.search.chunks);
  }
  if (outputs?.ingest) line(`ingested: ${oneLine(JSON.stringify(outputs.ingest), 300)}`);
  if (outputs?.error) line(`failed: ${oneLine(outputs.error.message, 300)}`, 'red');
  line('');
  line(calls.length === 0 ? 'No calls.' : `${counted(calls.length, 'call')}:`, 'bold');
  for (const row of formatTable(calls)) line(row);
}

function renderTurn(line: WriteLine, turn: TurnOutput, number: number): void {
  line('');
  line(`${number}. ${turn.reset ? '(after a reset) ' : ''}${oneLine(turn.question, 300)}`, 'bold');
  for (const { query, chunks } of turn.retrieved) {
    line(`   searched: ${oneLine(query, 200)}`, 'dim');
    renderFound(line, chunks);
  }
  if (turn.answer !== null) line(turn.answer);
  if (turn.error !== null) line(`failed: ${oneLine(turn.error.message, 300)}`, 'red');
  for (const { marker, title, url, verdict } of turn.citations) {
    line(`   cited [${marker}] ${verdict} ${oneLine(title, 80)} ${oneLine(url, 200)}`);
  }
  if (turn.tokensUsed !== null)
    line(`   ${turn.tokensUsed.prompt} tokens in, ${turn.tokensUsed.completion} out`, 'dim');
}

function renderFound(line: WriteLine, chunks: readonly { title: string; score: number }[]): void {
  for (const { title, score } of chunks) line(`     ${score.toFixed(2)} ${oneLine(title, 100)}`, 'dim');
}

/** Calls as aligned lines: number, lane, when, how long, what, what came of it, tokens. */
function formatTable(calls: readonly Call[]): string[] {
  const rows = calls.map(({ id, lane, startedAtMs, durationMs, request, outcome, tokens, chunks }) => [
    String(id),
    lane === 0 ? '' : `lane ${lane}`,
    `+${seconds(startedAtMs)}`,
    seconds(durationMs),
    oneLine(request, 70),
    oneLine(outcome, 30),
    tokens === null ? '' : `${tokens.input} in, ${tokens.output} out`,
    chunks === null ? '' : counted(chunks, 'chunk'),
  ]);
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  );
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .filter((_, column) => (widths[column] ?? 0) > 0)
      .join('  ')
      .trimEnd(),
  );
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(2)} s`;
}

/** What the verdict rests on: calls that were answered from the tape, or a run that makes none. */
function playedFacts({ exchanges, missing, turns }: ReplayResult): string {
  const made = turns === 0 ? null : counted(turns, 'turn');
  if (exchanges.recorded === 0 && missing.length === 0)
    return `${made ?? 'the run'}, made anew and held against the tape; it calls no service`;
  const used = `${exchanges.used} of ${counted(exchanges.recorded, 'exchange')} used`;
  return made === null ? used : `${used}, ${made}`;
}

/** Whether a tape came to the same again, and where it did not. */
export function renderReplay(terminal: Terminal, result: ReplayResult): void {
  const { changed, differences, exchanges, missing, partedAtTurn } = result;
  const fork = Object.entries(changed).map(([name, value]) => `${name} ${oneLine(String(value), 40)}`);
  const verdict =
    differences.length === 0 && missing.length === 0
      ? terminal.text('same', 'green')
      : terminal.text(fork.length > 0 ? 'parts' : 'drifted', fork.length > 0 ? 'yellow' : 'red');
  const line = (text: string) => terminal.write(`${terminal.text(text)}\n`);
  const settings = fork.length > 0 ? ` with ${oneLine(fork.join(', '), 80)}` : '';
  terminal.write(
    `${terminal.text(oneLine(result.tape, 200), 'bold')}${terminal.text(settings)}: ${verdict} ${terminal.text(`(${playedFacts(result)})`, 'dim')}\n`,
  );
  const failure = failureOf(result);
  if (failure !== null) line(`  The run fails as it did when it was recorded: ${failure}`);
  const why = result.reason === null ? '' : `: ${oneLine(result.reason, 300)}`;
  if (partedAtTurn !== null) line(`  The two part at turn ${partedAtTurn}${why}.`);
  else if (why !== '') line(`  The two part${why}.`);
  for (const difference of differences.slice(0, SHOWN_DIFFERENCES)) line(formatDifference(difference));
  if (differences.length > SHOWN_DIFFERENCES)
    line(`  and ${differences.length - SHOWN_DIFFERENCES} more differences`);
  if (result.collectionChanged === true && differences.length + missing.length > 0) {
    line('  The collection holds other documents than when it was recorded: different chunks.');
  }
  if (exchanges.repeated > 0)
    line(`  ${counted(exchanges.repeated, 'call was', 'calls were')} made more often than recorded.`);
  renderMissing(line, result);
  if (result.renewed) line('  The tape is renewed.');
}

/** What the last turn, or the run before it had one, failed with; null where it did not, or not as recorded. */
function failureOf({ outputs, differences, missing }: ReplayResult): string | null {
  if (differences.length + missing.length > 0) return null;
  return (outputs.turns.length > 0 ? outputs.turns.at(-1)?.error : outputs.error)?.message ?? null;
}

function renderMissing(line: (text: string) => void, { missing, live }: ReplayResult): void {
  const [first] = missing;
  if (first === undefined) return;
  const calls = counted(missing.length, 'call');
  if (live) {
    line(`  ${calls} not on the tape ${missing.length === 1 ? 'was' : 'were'} taken from the live service.`);
    return;
  }
  line(`  It would need ${calls} that the tape does not have (--on-miss passthrough or record). The first:`);
  line(`  ${first.message}`);
  for (const each of first.hint.split('\n')) line(`  ${each}`);
}

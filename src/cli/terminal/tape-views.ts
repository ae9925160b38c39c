import type { ReplayComparison } from '../../tape/compare-replay.ts';
import { formatJsonDifference, type JsonDifference } from '../../tape/diff-json.ts';
import type { TapeDifference } from '../../tape/diff-tapes.ts';
import type { Tape } from '../../tape/read-tape.ts';
import type { ReissueResult } from '../../tape/reissue-requests.ts';
import type { TurnOutput } from '../../tape/run-outputs.ts';
import { summarizeTape } from '../../tape/tape-summary.ts';
import { formatCount } from '../../text/format-count.ts';
import { oneLine } from '../../text/visible-text.ts';
import { formatTable } from './format-table.ts';
import type { Terminal, TextStyle } from './terminal.ts';

const SHOWN_DIFFERENCES = 12;
const SHOWN_CALLS = 20;

type WriteLine = (text: string, style?: TextStyle) => void;

function createLineWriter(terminal: Terminal): WriteLine {
  return (text, style) => terminal.write(`${terminal.text(text, style)}\n`);
}

/** Output of `tape show`: how the tape was made, the conversation, and each call. */
export function renderTape(terminal: Terminal, tape: Tape): void {
  const { header, complete, edited, calls, outputs } = summarizeTape(tape);
  const line = createLineWriter(terminal);
  const { program, version, node } = header.madeBy;
  line(oneLine(tape.path, 300), 'bold');
  line(
    `${header.origin} ${header.origin === 'recorded' ? 'by' : 'for'} ${oneLine(`${program} ${version}${node ? `, Node ${node}` : ''}`, 80)} on ${header.createdAt}`,
  );
  const about = [header.command, header.model && `model ${header.model}`].filter(Boolean).join(', ');
  if (about !== '') line(oneLine(about, 120));
  if (header.note !== undefined) line(oneLine(header.note, 300), 'dim');
  if (!complete) line('Incomplete: the recording was interrupted.', 'yellow');
  if (edited) line('Edited after it was recorded.', 'yellow');
  const collection = outputs?.collection;
  if (collection) {
    const documents = formatCount(collection.documents, 'document');
    line(`collection ${collection.name}, ${documents}, fingerprint ${collection.fingerprint}`);
  }
  for (const [index, turn] of (outputs?.turns ?? []).entries()) renderTurnOutput(line, turn, index + 1);
  if (outputs?.search) {
    line('');
    line(`search: ${oneLine(outputs.search.query, 200)}`, 'bold');
    renderChunks(line, outputs.search.chunks);
  }
  if (outputs?.ingest) line(`ingest: ${oneLine(JSON.stringify(outputs.ingest), 300)}`);
  if (outputs?.error) line(`failed: ${oneLine(outputs.error.message, 300)}`, 'red');
  line('');
  line(calls.length === 0 ? 'No calls.' : `${formatCount(calls.length, 'call')}:`, 'bold');
  if (calls.length === 0) return;
  const rows = calls.map(({ id, startedAtMs, durationMs, request, outcome, chunks }) => [
    String(id),
    `+${formatSeconds(startedAtMs)}`,
    formatSeconds(durationMs),
    chunks === null ? '' : String(chunks),
    oneLine(outcome, 30),
    oneLine(request, 70),
  ]);
  const headings = ['call', 'start', 'duration', 'chunks', 'status', 'request'];
  terminal.write(formatTable(terminal, headings, rows));
}

function renderTurnOutput(line: WriteLine, turn: TurnOutput, number: number): void {
  line('');
  line(`${number}. ${turn.reset ? '(after a reset) ' : ''}${oneLine(turn.question, 300)}`, 'bold');
  for (const { query, chunks } of turn.retrieved) {
    line(`   search: ${oneLine(query, 200)}`, 'dim');
    renderChunks(line, chunks);
  }
  if (turn.answer !== null) line(turn.answer);
  if (turn.error !== null) line(`failed: ${oneLine(turn.error.message, 300)}`, 'red');
  for (const { marker, title, url, verdict } of turn.citations) {
    line(`   cited [${marker}] ${verdict} ${oneLine(title, 80)} ${oneLine(url, 200)}`);
  }
  if (turn.tokensUsed !== null)
    line(`   ${turn.tokensUsed.prompt} tokens in, ${turn.tokensUsed.completion} out`, 'dim');
}

function renderChunks(line: WriteLine, chunks: readonly { title: string; score: number }[]): void {
  for (const { title, score } of chunks) line(`     ${score.toFixed(2)} ${oneLine(title, 100)}`, 'dim');
}

function formatSeconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(2)} s`;
}

export function renderReplay(terminal: Terminal, result: ReplayComparison): void {
  const { changed, differences, exchanges, missing, outputs, firstDifferentTurn, reason } = result;
  const line = createLineWriter(terminal);
  const settings = Object.entries(changed).map(([name, value]) => `${name} ${oneLine(String(value), 40)}`);
  const isSame = differences.length === 0 && missing.length === 0;
  const verdict = isSame
    ? terminal.text('same', 'green')
    : terminal.text('different', settings.length > 0 ? 'yellow' : 'red');
  const name = terminal.text(oneLine(result.tape, 200), 'bold');
  const changes = terminal.text(settings.length === 0 ? '' : ` with ${oneLine(settings.join(', '), 80)}`);
  terminal.write(
    `${name}${changes}: ${verdict} ${terminal.text(`(${formatReplayCounts(result)})`, 'dim')}\n`,
  );
  // A run may also end before its first turn.
  const failure = outputs.turns.length > 0 ? outputs.turns.at(-1)?.error : outputs.error;
  if (isSame && failure) line(`  The run fails as recorded: ${failure.message}`);
  if (!isSame) {
    const turn = firstDifferentTurn === null ? '' : ` at turn ${firstDifferentTurn}`;
    line(`  First difference${turn}${reason === null ? '' : `. Likely reason: ${oneLine(reason, 300)}`}.`);
  }
  renderDifferences(line, differences);
  if (exchanges.repeated > 0)
    line(`  ${formatCount(exchanges.repeated, 'call was', 'calls were')} made more often than recorded.`);
  renderMissing(line, result);
  if (result.renewed) line('  Updated the tape.');
}

function formatReplayCounts({ exchanges, missing, turns }: ReplayComparison): string {
  const used =
    exchanges.recorded === 0 && missing.length === 0
      ? ['no service calls']
      : [`${exchanges.used} of ${formatCount(exchanges.recorded, 'exchange')} used`];
  return [...used, ...(turns === 0 ? [] : [formatCount(turns, 'turn')])].join(', ');
}

function renderMissing(line: WriteLine, { missing, live }: ReplayComparison): void {
  const [first] = missing;
  if (first === undefined) return;
  const calls = formatCount(missing.length, 'call');
  if (live) {
    line(`  ${calls} not on the tape ${missing.length === 1 ? 'was' : 'were'} sent to the live service.`);
    return;
  }
  line(`  ${calls} not on the tape (use --on-miss passthrough or record). The first:`);
  line(`  ${first.message}`);
  for (const each of first.hint.split('\n')) line(`  ${each}`);
}

function renderDifferences(line: WriteLine, differences: readonly JsonDifference[]): void {
  for (const difference of differences.slice(0, SHOWN_DIFFERENCES)) line(formatJsonDifference(difference));
  if (differences.length > SHOWN_DIFFERENCES) line(`  and ${differences.length - SHOWN_DIFFERENCES} more`);
}

export function renderTapeDifference(
  terminal: Terminal,
  difference: TapeDifference & { before: string; after: string },
): void {
  const { before, after, same, run, exchanges, outputs, counts } = difference;
  const line = createLineWriter(terminal);
  const verdict = same ? terminal.text('same', 'green') : terminal.text('different', 'red');
  const names = terminal.text(`${oneLine(before, 150)} and ${oneLine(after, 150)}`, 'bold');
  const calls =
    counts.before + counts.after === 0
      ? 'no service calls'
      : `${counts.before} and ${formatCount(counts.after, 'call')}`;
  terminal.write(`${names}: ${verdict} ${terminal.text(`(${calls})`, 'dim')}\n`);
  if (run.length > 0) line('Inputs:');
  renderDifferences(line, run);
  for (const { kind, before: was, after: is, request, differences } of exchanges.slice(0, SHOWN_CALLS)) {
    const number = was === null || is === null || was === is ? `${is ?? was}` : `${was} (now ${is})`;
    line(`Call ${number}, ${oneLine(request, 80)}, ${kind}${differences.length === 0 ? '.' : ':'}`);
    renderDifferences(line, differences);
  }
  if (exchanges.length > SHOWN_CALLS) line(`and ${exchanges.length - SHOWN_CALLS} more calls`);
  if (outputs.length > 0) line('Outputs:');
  renderDifferences(line, outputs);
}

export function renderReissueResult(
  terminal: Terminal,
  { asked, left, ok }: ReissueResult & { ok: boolean },
): void {
  const line = createLineWriter(terminal);
  for (const { tape, exchange, request, changes } of asked) {
    const verdict = changes.length === 0 ? terminal.text('same', 'green') : terminal.text('changed', 'red');
    const name = terminal.text(`${oneLine(tape, 120)}, call ${exchange}, ${oneLine(request, 60)}`);
    terminal.write(`${name}: ${verdict}\n`);
    for (const { detail } of changes) line(`  ${detail}`);
  }
  const changes = asked.flatMap((call) => call.changes);
  const kinds = Object.entries(Object.groupBy(changes, ({ kind }) => kind));
  const summary = kinds.map(([kind, all]) => `${kind} ${all.length}`).join(', ') || 'all as recorded';
  line(
    asked.length === 0 ? 'No calls to repeat.' : `Repeated ${formatCount(asked.length, 'call')}: ${summary}.`,
  );
  if (!ok) line('To accept a change, record the tape again with --record or --on-miss record.');
  for (const { reason, calls } of left) line(`Skipped ${formatCount(calls, 'call')}: ${reason}.`);
}

import { oneLine } from '../../domain/visible-text.ts';
import { pathOf } from '../../tape/match-key.ts';
import type { Tape } from '../../tape/open-tape.ts';
import { type RunOutputs, runOutputsSchema, type TurnOutput } from '../../tape/run-outputs.ts';
import { usageOf } from '../../tape/usage-of.ts';
import type { Terminal } from '../terminal.ts';
import { formatTable } from './format-calls.ts';

/** Each call on one line, for people and for programs. */
export interface Call {
  id: number;
  lane: number;
  startedAtMs: number;
  durationMs: number;
  request: string;
  /** The status, or what failed. */
  outcome: string;
  tokens: { input: number; output: number } | null;
  chunks: number | null;
}

export interface TapeSummary {
  path: string;
  header: Tape['header'];
  complete: boolean;
  edited: boolean;
  calls: Call[];
  outputs: RunOutputs | null;
}

export function tapeSummary(tape: Tape): TapeSummary {
  const { path, header, complete, edited, tail } = tape;
  return {
    path,
    header,
    complete,
    edited,
    outputs: runOutputsSchema.safeParse(tail?.outputs ?? {}).data ?? null,
    calls: Array.from(tape.exchanges(), (exchange) => ({
      id: exchange.id,
      lane: exchange.lane,
      startedAtMs: exchange.startedAtMs,
      durationMs: exchange.durationMs,
      request: `${exchange.request.method} ${new URL(exchange.request.url).host}${pathOf(exchange.request.url)}`,
      outcome: [exchange.response?.status, exchange.failure?.code ?? exchange.failure?.name]
        .filter((part) => part !== undefined)
        .join(' '),
      tokens: usageOf(exchange),
      chunks: exchange.response?.chunks?.length ?? null,
    })),
  };
}

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
    line(`collection ${collection.name}, ${collection.documents} documents, ${collection.fingerprint}`);

  for (const [index, turn] of (outputs?.turns ?? []).entries()) renderTurn(line, turn, index + 1);
  if (outputs?.search) {
    line('');
    line(`searched: ${oneLine(outputs.search.query, 200)}`, 'bold');
    renderFound(line, outputs.search.chunks);
  }
  if (outputs?.ingest) line(`ingested: ${oneLine(JSON.stringify(outputs.ingest), 300)}`);
  if (outputs?.error) line(`failed: ${oneLine(outputs.error.message, 300)}`, 'red');
  line('');
  line(
    calls.length === 0 ? 'No calls.' : `${calls.length === 1 ? '1 call' : `${calls.length} calls`}:`,
    'bold',
  );
  for (const row of formatTable(calls)) line(row);
}

type WriteLine = (text: string, style?: Parameters<Terminal['text']>[1]) => void;

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

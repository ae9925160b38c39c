import { SCORE_DECIMALS } from '../domain/retrieved-chunk.ts';
import { REDACTED } from '../faults/redactor.ts';
import { diffJson, type JsonDifference } from './diff-json.ts';
import { canonicalJson } from './match-key.ts';
import type { RunOutputs, TurnOutput } from './run-outputs.ts';
import type { TapeJson } from './tape-format.ts';

/** The path prefix of a turn's differences. */
export function turnPath(index: number): string {
  return `turn ${index + 1}`;
}

/** Compares answers, citations, verdicts, retrieved chunks, messages, search, ingest and errors. */
export function compareRunOutputs(recorded: RunOutputs, replayed: RunOutputs): JsonDifference[] {
  const turns = Math.max(recorded.turns.length, replayed.turns.length);
  return [
    ...Array.from({ length: turns }, (_, index) =>
      diffTurns(recorded.turns[index], replayed.turns[index], turnPath(index)),
    ).flat(),
    ...diffOutputs(recorded.search, replayed.search, 'search'),
    ...diffOutputs(recorded.ingest, replayed.ingest, 'ingest'),
    ...diffOutputs(runErrorMessage(recorded), runErrorMessage(replayed), 'error'),
  ];
}

/** Null for a run with turns, which have their own errors. */
function runErrorMessage({ turns, error }: RunOutputs): string | null {
  return turns.length > 0 ? null : (error?.message ?? null);
}

function diffTurns(
  recorded: TurnOutput | undefined,
  replayed: TurnOutput | undefined,
  path: string,
): JsonDifference[] {
  const both = [recorded, replayed];
  // A redacted answer cannot be checked against its sources, and earlier versions checked it in another way.
  const isRedacted = both.some((turn) => turn?.answer?.includes(REDACTED));
  const withVerdicts = !isRedacted && both.every((turn) => turn === undefined || hasCurrentVerdicts(turn));
  const [before, after] = both.map((turn) => comparableTurn(turn, withVerdicts));
  return diffOutputs(before, after, path);
}

function hasCurrentVerdicts({ sentences }: TurnOutput): boolean {
  return sentences?.every(({ reason }) => reason !== undefined) ?? false;
}

function comparableTurn(turn: TurnOutput | undefined, withVerdicts: boolean): TapeJson {
  if (turn === undefined) return null;
  const { answer, grounded, citations, sentences, retrievalCount, retrieved, messages, error } = turn;
  return {
    answer,
    grounded: withVerdicts ? grounded : null,
    retrievalCount,
    citations: withVerdicts ? citations : citations.map(({ verdict: _, ...citation }) => citation),
    sentences: withVerdicts ? sentences : null,
    retrieved,
    // Tool results are left out: their chunks are compared in `retrieved`.
    messages: messages
      .filter(({ role }) => role !== 'tool')
      .map(({ role, content, toolCalls = [] }) => ({
        role,
        content,
        toolCalls: toolCalls.map(({ name, arguments: args }) => ({ name, arguments: args })),
      })),
    error: error?.message ?? null,
  } as TapeJson;
}

function diffOutputs(before: unknown, after: unknown, path: string): JsonDifference[] {
  return diffJson(canonicalJson(before as TapeJson), canonicalJson(after as TapeJson), path).filter(
    (difference) => !isSameScore(difference),
  );
}

/** Scores differ in the last digits between processors. */
function isSameScore({ path, before, after }: JsonDifference): boolean {
  if (!/\.chunks\[\d+\]\.score$/.test(path) || typeof before !== 'number' || typeof after !== 'number') {
    return false;
  }
  return Math.abs(before - after) < 0.5 * 10 ** -SCORE_DECIMALS;
}

import { canonicalValue } from './canonical-body.ts';
import { type Difference, diffValues } from './diff-values.ts';
import type { RunOutputs, TurnOutput } from './run-outputs.ts';
import type { TapeJson } from './tape-format.ts';

/** Where two runs of the same came to something else: answers, citations, retrieval counts, messages. */
export function compareOutputs(recorded: RunOutputs, replayed: RunOutputs): Difference[] {
  const turns = Math.max(recorded.turns.length, replayed.turns.length);
  return [
    ...Array.from({ length: turns }, (_, index) =>
      diffTurn(recorded.turns[index], replayed.turns[index], `turn ${index + 1}`),
    ).flat(),
    ...diff(recorded.search, replayed.search, 'search'),
    ...diff(recorded.ingest, replayed.ingest, 'ingest'),
    ...diff(recorded.error?.message ?? null, replayed.error?.message ?? null, 'error'),
  ];
}

/** Whether one turn went as it did when it was recorded. */
export function diffTurn(
  recorded: TurnOutput | undefined,
  replayed: TurnOutput | undefined,
  place: string,
): Difference[] {
  return diff(comparable(recorded), comparable(replayed), place);
}

/** Whether the collection holds other documents now, which explains other chunks; null where that is not known. */
export function collectionChanged(recorded: RunOutputs, replayed: RunOutputs): boolean | null {
  if (recorded.collection === null || replayed.collection === null) return null;
  return recorded.collection.fingerprint !== replayed.collection.fingerprint;
}

function comparable(turn: TurnOutput | undefined): TapeJson {
  if (turn === undefined) return null;
  const { answer, grounded, citations, retrievalCount, retrieved, messages, error } = turn;
  return {
    answer,
    grounded,
    retrievalCount,
    citations,
    retrieved,
    // What tools return is long, and its chunks are compared above; calls and words are not.
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

function diff(before: unknown, after: unknown, place: string): Difference[] {
  return diffValues(canonicalValue(before as TapeJson), canonicalValue(after as TapeJson), place);
}

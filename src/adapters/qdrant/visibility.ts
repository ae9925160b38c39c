import type { Schemas } from '@qdrant/js-client-rest';

export type QdrantFilter = Schemas['Filter'];
export type Condition = Schemas['FieldCondition'] | Schemas['HasIdCondition'] | Schemas['Filter'];

/** When a point dies that nothing has replaced yet. */
export const NEVER = 2 ** 52;

/**
 * The points that a reader may see at an epoch. Every point says in which epoch it is born and in which it
 * dies; what is being written is born later than the current one, what was replaced has died by then.
 */
export function visibleAt(epoch: number, must: readonly Condition[] = []): QdrantFilter {
  return {
    must: [...must, { key: 'born', range: { lte: epoch } }, { key: 'died', range: { gt: epoch } }],
  };
}

export function bornAfter(epoch: number): Condition {
  return { key: 'born', range: { gt: epoch } };
}

export function diedBy(epoch: number): Condition {
  return { key: 'died', range: { lte: epoch } };
}

/** Points that a write has marked to die, but has not come to replace. */
export function doomedAfter(epoch: number): Condition {
  return { key: 'died', range: { gt: epoch, lt: NEVER } };
}

export function anyOf(key: string, values: readonly string[]): Condition {
  return { key, match: { any: [...values] } };
}

import { type Found, fusedScore, type RankedScore, similarity } from './fusion.ts';

/** A chunk by whatever a store calls it, with a score. */
export interface Scored<Id> {
  id: Id;
  score: number;
}

/** A hit whose chunk has not been read yet. */
export interface RankedId<Id> extends Found {
  id: Id;
  score: number;
  fusedScore: number;
}

/** Joins both halves of a search, each in its own order, into one. A half that was left out is null. */
export function rankHits<Id extends number | string>(
  lexical: readonly Scored<Id>[] | null,
  dense: readonly Scored<Id>[] | null,
  limit: number,
): RankedId<Id>[] {
  const mode = { lexical: lexical !== null, dense: dense !== null };
  const lexicalById = placesOf(lexical ?? []);
  const denseById = placesOf(dense ?? []);
  return [...new Set([...lexicalById.keys(), ...denseById.keys()])]
    .map((id) => ({ id, lexical: lexicalById.get(id) ?? null, dense: denseById.get(id) ?? null }))
    .map((hit) => ({ ...hit, score: similarity(hit, mode), fusedScore: fusedScore(hit, mode) }))
    .sort((a, b) => b.fusedScore - a.fusedScore || placeOf(a) - placeOf(b) || (a.id < b.id ? -1 : 1))
    .slice(0, limit);
}

/** Scores end at 1, where many may meet; the halves still know which of them is better. */
function placeOf({ lexical, dense }: Found): number {
  return lexical?.rank ?? dense?.rank ?? 0;
}

function placesOf<Id>(scored: readonly Scored<Id>[]): Map<Id, RankedScore> {
  return new Map(scored.map(({ id, score }, index) => [id, { rank: index + 1, score }]));
}

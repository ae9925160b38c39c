import { fusedScore, type RankedScore, similarity } from '../../domain/fusion.ts';
import type { StoreHit } from '../../ports/chunk-store.ts';

export interface ScoredId {
  id: string;
  score: number;
}

/** A hit whose chunk has not been read yet. */
export type RankedId = Omit<StoreHit, 'chunk'> & { id: string };

/** Joins both halves of a search, each in its own order, into one. A half that was left out is null. */
export function rankHits(
  lexical: readonly ScoredId[] | null,
  dense: readonly ScoredId[] | null,
  limit: number,
): RankedId[] {
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
function placeOf({ lexical, dense }: Omit<RankedId, 'score' | 'fusedScore'>): number {
  return lexical?.rank ?? dense?.rank ?? 0;
}

function placesOf(scored: readonly ScoredId[]): Map<string, RankedScore> {
  const ordered = scored.toSorted((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1));
  return new Map(ordered.map(({ id, score }, index) => [id, { rank: index + 1, score }]));
}

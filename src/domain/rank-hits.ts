/** How many candidates each half of a search puts forward, at least. */
export const CANDIDATES = 100;
/** More terms than a question has; of a whole text pasted as one, no more are searched for. */
export const MOST_TERMS = 128;
/** What a term is worth at least, however common it is; as FTS5 has it. */
const LEAST_WORTH = 1e-6;
/** From this size on, terms in more than a fifth of the chunks are left out of queries: they cost most and decide least. */
const LARGE_COLLECTION = 50_000;
const COMMON_SHARE = 0.2;

/** A place in a list from 1, and a similarity in 0..1. */
interface RankedScore {
  rank: number;
  score: number;
}

/** How a chunk was found by words and by meaning; null for a half that did not find it. */
interface MatchScores {
  lexical: RankedScore | null;
  dense: RankedScore | null;
}

/** A chunk by whatever a store calls it, with a score. */
export interface ScoredId<Id> {
  id: Id;
  score: number;
}

/** A hit whose chunk has not been read yet. */
export interface RankedId<Id> extends MatchScores {
  id: Id;
  score: number;
  fusedScore: number;
}

/**
 * Joins both halves of a search, each in its own order, into one. A half that was left out is null. Cosines are counted
 * from the baseline on.
 */
export function rankHits<Id extends number | string>(
  lexical: readonly ScoredId<Id>[] | null,
  dense: readonly ScoredId<Id>[] | null,
  limit: number,
  baseline = 0,
): RankedId<Id>[] {
  const mode = { lexical: lexical !== null, dense: dense !== null };
  const lexicalById = placesOf(lexical ?? []);
  const denseById = placesOf((dense ?? []).map((hit) => ({ ...hit, score: beyond(baseline, hit.score) })));
  return [...new Set([...lexicalById.keys(), ...denseById.keys()])]
    .map((id) => ({ id, lexical: lexicalById.get(id) ?? null, dense: denseById.get(id) ?? null }))
    .map((hit) => ({ ...hit, score: similarity(hit, mode), fusedScore: fusedScore(hit, mode) }))
    .sort((a, b) => b.fusedScore - a.fusedScore || placeOf(a) - placeOf(b) || (a.id < b.id ? -1 : 1))
    .slice(0, limit);
}

/** Encoders that find all texts alike use a small part of the scale: it is spread over the whole, so that words do not outweigh it. */
function beyond(baseline: number, cosine: number): number {
  return (cosine - baseline) / (1 - baseline);
}

/** Scores end at 1, where many may meet; the halves still know which of them is better. */
function placeOf({ lexical, dense }: MatchScores): number {
  return lexical?.rank ?? dense?.rank ?? 0;
}

function placesOf<Id>(scored: readonly ScoredId<Id>[]): Map<Id, RankedScore> {
  return new Map(scored.map(({ id, score }, index) => [id, { rank: index + 1, score }]));
}

/** The weight of a term in BM25 as FTS5 has it: the rarer, the more. */
export function termWorth(total: number, containing: number): number {
  return Math.max(LEAST_WORTH, Math.log((total - containing + 0.5) / (containing + 0.5)));
}

/**
 * Weighs a query's terms by rarity: the weights of the terms that occur, and the score of a chunk of average length that
 * has every term once. `counts` has the number of chunks with each term that occurs.
 */
export function weighTerms(
  terms: readonly string[],
  counts: ReadonlyMap<string, number>,
  total: number,
): { weights: Map<string, number>; maxScore: number } {
  const countOf = (term: string) => counts.get(term) ?? 0;
  const isCommon = (term: string) => total >= LARGE_COLLECTION && countOf(term) > total * COMMON_SHARE;
  const rare = terms.filter((term) => !isCommon(term));
  const weighed = (rare.length > 0 ? rare : terms).map((term) => ({
    term,
    // `total` may have been counted before a write that added chunks.
    weight: termWorth(Math.max(total, countOf(term)), countOf(term)),
  }));
  const occurring = weighed
    .filter(({ term }) => countOf(term) > 0)
    .sort((a, b) => b.weight - a.weight)
    .slice(0, MOST_TERMS);
  return {
    weights: new Map(occurring.map(({ term, weight }) => [term, weight])),
    maxScore: weighed.reduce((sum, { weight }) => sum + weight, 0),
  };
}

/** How soon more of the same word stops to count, and how much the length of a text counts, in BM25 as FTS5 has it. */
const K1 = 1.2;
const B = 0.75;

/** The part of BM25 that a chunk decides: how often it has a term, for its length in terms. */
export function termSaturation(count: number, length: number, averageLength: number): number {
  return (count * (K1 + 1)) / (count + K1 * (1 - B + (B * length) / averageLength));
}

/** How much meaning counts against words; measured by `npm run bench:quality`. */
const DENSE_WEIGHT = 0.5;

/**
 * A full-text score as a similarity in 0..1. `share` is the BM25 score over what a chunk of ordinary length
 * scores that has each of the query's terms once; there is no upper bound to it, so it is bent, not cut off.
 */
export function lexicalScore(share: number): number {
  return 1 - Math.exp(-Math.max(0, share));
}

/**
 * What hits are ordered by: the weighted sum of both similarities. With one kind of search alone, its own; so it is with
 * a chunk that has no vector yet, since what it means is not known.
 */
export function fusedScore(
  { lexical, dense }: MatchScores,
  mode: { lexical: boolean; dense: boolean },
): number {
  if (!mode.lexical) return clamp(dense?.score ?? 0);
  if (!mode.dense || dense === null) return clamp(lexical?.score ?? 0);
  return DENSE_WEIGHT * clamp(dense.score) + (1 - DENSE_WEIGHT) * clamp(lexical?.score ?? 0);
}

/**
 * How alike query and chunk are, in 0..1: what a threshold is held against. Words in common add to the
 * meaning in common, but a paraphrase that shares none must not lose by it.
 */
export function similarity(found: MatchScores, mode: { lexical: boolean; dense: boolean }): number {
  return Math.max(fusedScore(found, mode), clamp(found.dense?.score ?? 0));
}

function clamp(value: number): number {
  return Math.min(1, Math.max(0, value));
}

/** The minimum number of candidates of each half of a search. */
export const MIN_CANDIDATES = 100;
/** A longer query is cut to this many terms. */
export const MAX_QUERY_TERMS = 128;
/** The minimum weight of a term, as in FTS5. */
const MIN_TERM_WEIGHT = 1e-6;
/** In collections of this size, queries leave out terms that more than a fifth of the chunks have: they cost most and matter least. */
const LARGE_COLLECTION = 50_000;
const COMMON_SHARE = 0.2;

/** A rank from 1, and a similarity in 0..1. */
interface RankedScore {
  rank: number;
  score: number;
}

/** The lexical and dense result of a chunk; null for a half that did not find it. */
interface MatchScores {
  lexical: RankedScore | null;
  dense: RankedScore | null;
}

/** A chunk by the id that its store uses. */
export interface ScoredId<Id> {
  id: Id;
  score: number;
}

/** A hit before its chunk is read. */
export interface RankedId<Id> extends MatchScores {
  id: Id;
  score: number;
  fusedScore: number;
}

/** Fuses the lexical and the dense hits, each best first, into one list. A half that was not searched is null. Cosines are rescaled from `baseline`..1 to 0..1. */
export function rankHits<Id extends number | string>(
  lexical: readonly ScoredId<Id>[] | null,
  dense: readonly ScoredId<Id>[] | null,
  limit: number,
  baseline = 0,
): RankedId<Id>[] {
  const mode = { lexical: lexical !== null, dense: dense !== null };
  const lexicalById = indexById(lexical ?? []);
  // Some encoders give unrelated texts a high cosine; without rescaling, lexical scores would outweigh them.
  const denseById = indexById(
    (dense ?? []).map((hit) => ({ ...hit, score: (hit.score - baseline) / (1 - baseline) })),
  );
  // The score beyond the last candidate is unknown. As 0, a near chunk with only common words would rank too low.
  const unseen = lexical !== null && lexical.length >= MIN_CANDIDATES ? (lexical.at(-1)?.score ?? 0) : 0;
  const scoresOf = (hit: MatchScores) => {
    const known = { dense: hit.dense, lexical: hit.lexical ?? { rank: MIN_CANDIDATES + 1, score: unseen } };
    return { score: matchSimilarity(known, mode), fusedScore: fusedScore(known, mode) };
  };
  return [...new Set([...lexicalById.keys(), ...denseById.keys()])]
    .map((id) => ({ id, lexical: lexicalById.get(id) ?? null, dense: denseById.get(id) ?? null }))
    .map((hit) => ({ ...hit, ...scoresOf(hit) }))
    .sort((a, b) => b.fusedScore - a.fusedScore || rankInHalf(a) - rankInHalf(b) || (a.id < b.id ? -1 : 1))
    .slice(0, limit);
}

/** Breaks ties of scores that are cut at 1. */
function rankInHalf({ lexical, dense }: MatchScores): number {
  return lexical?.rank ?? dense?.rank ?? 0;
}

function indexById<Id>(scored: readonly ScoredId<Id>[]): Map<Id, RankedScore> {
  return new Map(scored.map(({ id, score }, index) => [id, { rank: index + 1, score }]));
}

/** The BM25 weight of a term, as in FTS5: rare terms weigh more. */
export function termWeight(total: number, containing: number): number {
  return Math.max(MIN_TERM_WEIGHT, Math.log((total - containing + 0.5) / (containing + 0.5)));
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
    weight: termWeight(Math.max(total, countOf(term)), countOf(term)),
  }));
  const occurring = weighed.filter(({ term }) => countOf(term) > 0);
  return {
    weights: new Map(occurring.map(({ term, weight }) => [term, weight])),
    maxScore: weighed.reduce((sum, { weight }) => sum + weight, 0),
  };
}

/** BM25 parameters, as in FTS5. */
const K1 = 1.2;
const B = 0.75;
/**
 * The average number of terms in a chunk. Fixed, because chunks of similar size rank the same with 80 to 160, and Qdrant
 * would have to update every chunk when the exact average changes.
 */
const AVERAGE_LENGTH = 100;

/** The BM25 factor of a chunk: how often it has a term, for its length in terms. */
export function termSaturation(count: number, length: number): number {
  return (count * (K1 + 1)) / (count + K1 * (1 - B + (B * length) / AVERAGE_LENGTH));
}

/** The weight of dense against lexical scores; measured by `npm run bench:quality`. */
const DENSE_WEIGHT = 0.5;

/**
 * A BM25 score as a similarity in 0..1. `share` is the score relative to a chunk of average length that has each term once;
 * it has no upper bound, so it is mapped smoothly.
 */
export function lexicalScore(share: number): number {
  return 1 - Math.exp(-Math.max(0, share));
}

/** The score that hits are sorted by: the weighted sum of both similarities, or the only one there is. */
export function fusedScore(
  { lexical, dense }: MatchScores,
  mode: { lexical: boolean; dense: boolean },
): number {
  if (!mode.lexical) return clamp(dense?.score ?? 0);
  if (!mode.dense || dense === null) return clamp(lexical?.score ?? 0);
  return DENSE_WEIGHT * clamp(dense.score) + (1 - DENSE_WEIGHT) * clamp(lexical?.score ?? 0);
}

/** The similarity in 0..1 that thresholds apply to: the fused score, or the dense one if that is higher, as in a paraphrase. */
export function matchSimilarity(found: MatchScores, mode: { lexical: boolean; dense: boolean }): number {
  return Math.max(fusedScore(found, mode), clamp(found.dense?.score ?? 0));
}

function clamp(value: number): number {
  return Math.min(1, Math.max(0, value));
}

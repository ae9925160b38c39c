/** How relevant each document is to one query; what is not in it is not relevant. */
export type Relevance = ReadonlyMap<string, number>;

/** Discounted gain of the first `k`, against that of the best possible order. */
export function ndcgAt(k: number, ranking: readonly string[], relevance: Relevance): number {
  const gains = ranking.slice(0, k).map((document) => relevance.get(document) ?? 0);
  const ideal = [...relevance.values()].sort((a, b) => b - a).slice(0, k);
  const best = discounted(ideal);
  return best === 0 ? 0 : discounted(gains) / best;
}

/** The share of the relevant documents among the first `k`. */
export function recallAt(k: number, ranking: readonly string[], relevance: Relevance): number {
  const relevant = [...relevance].filter(([, grade]) => grade > 0).map(([document]) => document);
  const first = new Set(ranking.slice(0, k));
  return relevant.length === 0
    ? 0
    : relevant.filter((document) => first.has(document)).length / relevant.length;
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function discounted(gains: readonly number[]): number {
  return gains.reduce((sum, gain, index) => sum + gain / Math.log2(index + 2), 0);
}

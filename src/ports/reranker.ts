/** A document by its place among those handed over, and how well it answers the query. */
export interface RankedDocument {
  index: number;
  /** From 0 (unrelated) to 1. */
  score: number;
}

/** Puts documents in the order of how well each answers a query. */
export interface Reranker {
  /** Names service and model. */
  readonly id: string;
  /** The score from which a document counts as relevant; scores of different rerankers must not be compared. */
  readonly scoreThreshold: number;
  /** The best `topN` of the documents, best first, each at most once. Throws AppErrors, or the signal's reason. */
  rerank(
    query: string,
    documents: readonly string[],
    topN: number,
    signal?: AbortSignal,
  ): Promise<RankedDocument[]>;
}

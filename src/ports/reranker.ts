/** A document by its index in the input. */
export interface RankedDocument {
  index: number;
  /** From 0 (unrelated) to 1. */
  score: number;
}

/** Sorts documents by how well they answer a query. */
export interface Reranker {
  /** Service and model. */
  readonly id: string;
  /** The score from which a document is relevant; scores of different rerankers must not be compared. */
  readonly scoreThreshold: number;
  /** The best `topN` of the documents, best first, each at most once. Throws AppErrors, or the signal's reason. */
  rerank(
    query: string,
    documents: readonly string[],
    topN: number,
    signal?: AbortSignal,
  ): Promise<RankedDocument[]>;
}

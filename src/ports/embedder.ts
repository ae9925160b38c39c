/** The default relevance threshold, on cosines rescaled from an embedder's baseline..1 to 0..1. */
export const DEFAULT_SCORE_THRESHOLD = 0.3;

/** Turns text into vectors of unit length. */
export interface Embedder {
  /** Model and version; vectors of different ids must not be compared. */
  readonly id: string;
  readonly dimensions: number;
  /** The longest input in tokens; the model cuts off the rest. */
  readonly maxTokens: number;
  /** Texts per call of `embedDocuments`. */
  readonly batchSize: number;
  /** The rescaled cosine from which a chunk is relevant. */
  readonly scoreThreshold: number;
  /** The cosine of unrelated texts; cosines are rescaled from `baseline`..1 to 0..1. Default 0. */
  readonly baseline?: number;
  /** The tokens of a text, without special tokens. */
  countTokens(text: string): number;
  /** One vector per text, in the same order. */
  embedDocuments(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]>;
  embedQuery(text: string, signal?: AbortSignal): Promise<Float32Array>;
  close(): Promise<void>;
}

/** The default relevance threshold, on cosines rescaled from an embedder's baseline..1 to 0..1. */
export const DEFAULT_SCORE_THRESHOLD = 0.3;

/** The dimensions of word vectors. */
export const WORD_DIMENSIONS = 64;
/** The values of word vectors are multiples of this, from -8 to 7 times, so that a store can keep them in four bits. */
export const WORD_VALUE_STEP = 6;

/** A text as one vector, and as one vector per content word. */
export interface TextEmbedding {
  /** Of unit length. */
  vector: Float32Array;
  /**
   * The word vectors in the order of `findContentWords`, of about unit length if 127 is 1. Words past the model's input
   * are zero vectors.
   */
  words: Int8Array;
}

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
  /** Whether it was trained on English text only. Default false. */
  readonly isEnglishOnly?: boolean;
  /** Whether it has `embedWords`. Default false. */
  readonly hasWords?: boolean;
  /** The tokens of a text, without special tokens. */
  countTokens(text: string): number;
  /** One vector per text, in the same order. */
  embedDocuments(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]>;
  embedQuery(text: string, signal?: AbortSignal): Promise<Float32Array>;
  /** The same vectors with those of the words, from the same run of the model; absent if there are none. */
  embedWords?(texts: readonly string[], signal?: AbortSignal): Promise<TextEmbedding[]>;
  close(): Promise<void>;
}

/** The share of the way from an embedder's baseline to 1 from which a chunk counts as relevant, where it was fitted. */
export const RELEVANT_FROM = 0.3;

/** Turns text into vectors of unit length. */
export interface Embedder {
  /** Names model and version: vectors of different ids must not be compared. */
  readonly id: string;
  readonly dimensions: number;
  /** The longest input in tokens; more is cut off by the model. */
  readonly maxTokens: number;
  /** How many texts to hand over at a time. */
  readonly batchSize: number;
  /** The cosine similarity from which a chunk counts as relevant, counted from the baseline on. */
  readonly scoreThreshold: number;
  /**
   * The cosine that texts have which have nothing in common: similarity is counted from there on. Left out where that
   * is about none.
   */
  readonly baseline?: number;
  /** Tokens of a text as this embedder counts them, without the ones it adds itself. */
  countTokens(text: string): number;
  /** Whether a word in lower case is one that it learned whole: no rare name and not misspelt. Left out where nobody knows. */
  knowsWord?(word: string): boolean;
  /** One vector for each text, in the same order. */
  embedDocuments(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]>;
  embedQuery(text: string, signal?: AbortSignal): Promise<Float32Array>;
  close(): Promise<void>;
}

/** A text as contextual token vectors. */
export interface EncodedText {
  /** The character offset where each token starts, in order. */
  starts: Uint32Array;
  /** The character offset where each token ends. */
  ends: Uint32Array;
  /** The token vectors, concatenated. Not normalized, so that the mean of a span is its vector. */
  states: Float32Array;
  /** The vector of the whole text, of unit length, equal to the embedding. */
  vector: Float32Array;
}

/** Adds the token vectors `from`..`to` to a sum. A plain loop, because most of a first answer runs here before the JIT does. */
export function sumTokenVectors(
  sum: Float32Array | Float64Array,
  states: Float32Array | Float64Array,
  from: number,
  to: number,
): void {
  const width = sum.length;
  let at = from * width;
  for (let token = from; token < to; token += 1) {
    for (let i = 0; i < width; i += 1, at += 1) sum[i] = (sum[i] as number) + (states[at] as number);
  }
}

/** Encodes texts into token vectors. */
export interface TokenEncoder {
  /** Model and version; vectors of different ids must not be compared. */
  readonly id: string;
  readonly dimensions: number;
  /**
   * One result per text, in the same order, independent of the other texts. A text longer than the model's input is encoded
   * in overlapping windows. The caller owns the results and may transfer them.
   */
  encodeTokens(texts: readonly string[], signal?: AbortSignal): Promise<EncodedText[]>;
}

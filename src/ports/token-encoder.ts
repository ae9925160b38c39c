/** A text as the model sees it: a vector for each of its tokens, in the light of the tokens around it. */
export interface EncodedText {
  /** Where each token begins among the characters of the text, in order. */
  starts: Uint32Array;
  /** Where each token ends. */
  ends: Uint32Array;
  /** The vectors of the tokens one after the other, as the model gives them: not of unit length, so that their mean is the vector of what they span. */
  states: Float32Array;
  /** Of the whole text, of unit length: what an embedder of the same model makes of it. */
  vector: Float32Array;
}

/**
 * Adds the vectors of the tokens from one to before another to a sum, number by number: most of what a first answer
 * computes, run before anything is compiled.
 */
export function addTokens(
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

/** Gives the vectors of a text's tokens, not only the one of the whole. */
export interface TokenEncoder {
  /** Names model and version: vectors of different ids must not be compared. */
  readonly id: string;
  readonly dimensions: number;
  /**
   * One result for each text, in the same order. A text is encoded by itself, so that its vectors depend on nothing
   * else; one that is longer than the model reads is encoded in overlapping windows, and nothing of it is lost. Whoever
   * asks for it owns what is given back.
   */
  encodeTokens(texts: readonly string[], signal?: AbortSignal): Promise<EncodedText[]>;
}

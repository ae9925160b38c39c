import type { WeightedWords } from '../ports/chunk-store.ts';
import { WORD_DIMENSIONS } from '../ports/embedder.ts';

/** The square of the value that stands for 1 in a word vector. */
const UNIT = 127 * 127;

/** For each word of `words`, the best cosine with one of the `others`, from -1 to 1; 0 if there are none. */
export function bestCosines(words: Int8Array, others: Int8Array): Float64Array {
  const best = new Float64Array(words.length / WORD_DIMENSIONS);
  for (let word = 0; word < best.length; word += 1) {
    const first = word * WORD_DIMENSIONS;
    let most = others.length === 0 ? 0 : Number.NEGATIVE_INFINITY;
    for (let at = 0; at < others.length; at += WORD_DIMENSIONS) {
      let product = 0;
      for (let i = 0; i < WORD_DIMENSIONS; i += 1) {
        product += (words[first + i] as number) * (others[at + i] as number);
      }
      if (product > most) most = product;
    }
    best[word] = most / UNIT;
  }
  return best;
}

/** The weighted mean of the best cosines of a query's words with other words. */
export function scoreWords({ vectors, weights }: WeightedWords, others: Int8Array): number {
  let sum = 0;
  let total = 0;
  bestCosines(vectors, others).forEach((cosine, word) => {
    const weight = weights[word] ?? 0;
    sum += weight * cosine;
    total += weight;
  });
  return total === 0 ? 0 : sum / total;
}

import { createVectorScan } from '../../domain/vector-scan.ts';
import { WORD_DIMENSIONS, WORD_VALUE_STEP } from '../../ports/embedder.ts';
import projection from './word-projection.json' with { type: 'json' };

/** The tokens `from`..`to` of a word in the model's input. */
export type TokenRange = readonly [from: number, to: number];

/** The width of the token vectors. */
const WIDTH = projection.width;

/**
 * Returns a function that turns token vectors into word vectors: the mean of a word's tokens, projected by principal
 * components, scaled to unit length and rounded to 16 levels. A word without tokens is a zero vector. The projection sums
 * integers, so equal token vectors give equal bytes on every machine.
 */
export function createWordProjection(): (states: Float32Array, words: readonly TokenRange[]) => Int8Array {
  const { memory, scan } = createVectorScan();
  const queryOffset = WORD_DIMENSIONS * 4;
  const matrixOffset = queryOffset + WIDTH;
  const buffer = memory(matrixOffset + WORD_DIMENSIONS * WIDTH);
  const products = new Int32Array(buffer, 0, WORD_DIMENSIONS);
  const query = new Int8Array(buffer, queryOffset, WIDTH);
  new Int8Array(buffer, matrixOffset).set(Buffer.from(projection.components, 'base64'));
  const { scales, offsets } = projection;
  const sum = new Float32Array(WIDTH);
  const projected = new Float32Array(WORD_DIMENSIONS);

  function projectWord(states: Float32Array, [from, to]: TokenRange, out: Int8Array): void {
    sum.fill(0);
    for (let at = from * WIDTH; at < to * WIDTH; at += WIDTH) {
      for (let i = 0; i < WIDTH; i += 1) sum[i] = (sum[i] as number) + (states[at + i] as number);
    }
    let square = 0;
    let largest = 0;
    for (const value of sum) {
      square += value * value;
      largest = Math.max(largest, Math.abs(value));
    }
    if (largest === 0) return;
    for (let i = 0; i < WIDTH; i += 1) query[i] = Math.round(((sum[i] as number) * 127) / largest);
    scan(matrixOffset, WORD_DIMENSIONS, WIDTH, queryOffset, 0);
    const unit = largest / 127 / Math.sqrt(square);
    let length = 0;
    for (let i = 0; i < WORD_DIMENSIONS; i += 1) {
      const value = (products[i] as number) * (scales[i] as number) * unit - (offsets[i] as number);
      projected[i] = value;
      length += value * value;
    }
    const scale = 127 / WORD_VALUE_STEP / (Math.sqrt(length) || 1);
    for (let i = 0; i < WORD_DIMENSIONS; i += 1) {
      const level = Math.round((projected[i] as number) * scale);
      out[i] = WORD_VALUE_STEP * Math.max(-8, Math.min(7, level));
    }
  }

  return (states, words) => {
    const vectors = new Int8Array(words.length * WORD_DIMENSIONS);
    words.forEach((range, index) => {
      projectWord(states, range, vectors.subarray(index * WORD_DIMENSIONS));
    });
    return vectors;
  };
}

import { addTokens, type EncodedText, type TokenEncoder } from '../../ports/token-encoder.ts';
import type { RunningModel } from './model-threads.ts';
import { asInput, type Tokenize } from './word-pieces.ts';

/** The tokens that stand around every input. */
const AROUND = 2;
/** Tokens that two neighbouring windows share; each is taken from the window that shows more of what surrounds it. */
const OVERLAP = 48;

interface Limits {
  maxTokens: number;
  dimensions: number;
}

/** One run of the model a window: in a batch of int8 the vectors of a text would depend on its neighbours. */
export function createEncodeTokens(
  model: Pick<RunningModel, 'encode'>,
  tokenize: Tokenize,
  { maxTokens, dimensions }: Limits,
): TokenEncoder['encodeTokens'] {
  async function encode(text: string, signal: AbortSignal | undefined): Promise<EncodedText> {
    const { ids, starts, ends } = tokenize.locate(text);
    const windows = windowsOf(ids.length, maxTokens - AROUND);
    let states: Float32Array = new Float32Array(windows.length > 1 ? ids.length * dimensions : 0);
    const sum = new Float64Array(dimensions);
    for (const { start, end, from, to } of windows) {
      signal?.throwIfAborted();
      const seen = await model.encode(asInput(ids.slice(start, end), maxTokens));
      const first = (1 + from - start) * dimensions;
      const own = seen.subarray(first, first + (to - from) * dimensions);
      // What the model gave is nobody else's, and large: of one window it need not be copied.
      if (windows.length > 1) states.set(own, from * dimensions);
      else states = own;
      addUnitMean(sum, seen, dimensions);
    }
    return {
      starts: Uint32Array.from(starts),
      ends: Uint32Array.from(ends),
      states,
      vector: Float32Array.from(ofUnitLength(sum)),
    };
  }

  return async (texts, signal) => {
    const encoded: EncodedText[] = [];
    for (const text of texts) encoded.push(await encode(text, signal));
    return encoded;
  };
}

interface Window {
  start: number;
  end: number;
  /** The tokens that are taken from it. */
  from: number;
  to: number;
}

/** Windows of at most `most` tokens that cover all of them; those of a long text overlap. */
export function windowsOf(tokens: number, most: number): Window[] {
  const windows: Window[] = [];
  for (let start = 0; ; start += most - OVERLAP) {
    const end = Math.min(tokens, start + most);
    const isLast = end === tokens;
    const from = windows.at(-1)?.to ?? 0;
    windows.push({ start, end, from, to: isLast ? end : end - OVERLAP / 2 });
    if (isLast) return windows;
  }
}

function addUnitMean(sum: Float64Array, states: Float32Array, dimensions: number): void {
  const mean = new Float64Array(dimensions);
  addTokens(mean, states, 0, states.length / dimensions);
  addTokens(sum, ofUnitLength(mean), 0, 1);
}

function ofUnitLength(vector: Float64Array): Float64Array {
  const length = Math.hypot(...vector) || 1;
  return vector.map((value) => value / length);
}

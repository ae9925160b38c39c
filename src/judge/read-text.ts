import { normalizeVector } from '../domain/unit-vectors.ts';
import { addTokens, type EncodedText } from '../ports/token-encoder.ts';
import type { Range } from '../text/markdown-blocks.ts';
import { sentencesAndCode } from '../text/split-sentences.ts';
import { indexTerms, STOP_WORDS } from '../text/terms.ts';

/** A word of a text that a model has read. */
export interface ReadWord extends Range {
  lower: string;
  /** Its index term; null for a word that says nothing by itself. */
  term: string | null;
  number: boolean;
  /** With a capital where no sentence begins. */
  name: boolean;
  pieces: number;
  /** The number of the sentence that it stands in. */
  sentence: number;
  /** Of unit length. */
  vector: Float32Array;
}

export interface ReadText {
  text: string;
  words: ReadWord[];
  sentences: readonly Range[];
  /** Of each sentence in the light of the others, of unit length. */
  sentenceVectors: Float32Array[];
  /** Of the whole, of unit length. */
  vector: Float32Array;
  encoded: EncodedText;
}

const WORD = /\d+(?:[.,]\d+)*|[\p{L}\p{M}\p{N}]+(?:['’]\p{L}{1,2}(?!\p{L}))?/gu;

export function readText(text: string, encoded: EncodedText, dimensions: number): ReadText {
  const found = sentencesAndCode(text);
  const sentences = found.length > 0 ? found : [{ start: 0, end: text.length }];
  const { starts, ends, states } = encoded;
  const words: ReadWord[] = [];
  const sums = sentences.map(() => new Float32Array(dimensions));
  // One piece of memory for all words: each has a token at least.
  const vectors = new Float32Array(starts.length * dimensions);
  let used = 0;
  let token = 0;
  let sentence = 0;
  for (const { 0: written, index } of text.matchAll(WORD)) {
    const end = index + written.length;
    while (sentence + 1 < sentences.length && index >= (sentences[sentence + 1]?.start ?? 0)) sentence += 1;
    while (token < starts.length && (ends[token] ?? 0) <= index) token += 1;
    const from = token;
    while (token < starts.length && (starts[token] ?? 0) < end) token += 1;
    if (from === token) continue;
    const lower = written.toLowerCase().replace('’', "'");
    const opens = index === (sentences[sentence]?.start ?? 0);
    const term = STOP_WORDS.has(lower) ? null : (indexTerms(written)[0] ?? null);
    words.push({
      start: index,
      end,
      lower,
      term,
      number: /^\d/.test(written),
      name: !opens && /^\p{Lu}/u.test(written) && term !== null,
      pieces: token - from,
      sentence,
      vector: meanOfUnitLength(states, from, token, vectors.subarray(used, used + dimensions)),
    });
    used += dimensions;
  }
  let at = 0;
  for (let i = 0; i < starts.length; i += 1) {
    while (at + 1 < sentences.length && (starts[i] ?? 0) >= (sentences[at + 1]?.start ?? 0)) at += 1;
    const sum = sums[at];
    if (sum !== undefined) addTokens(sum, states, i, i + 1);
  }
  return {
    text,
    words,
    sentences,
    sentenceVectors: sums.map(normalizeVector),
    vector: encoded.vector,
    encoded,
  };
}

/** The vector of a part of a text in the light of the rest, of unit length. */
export function pooled(
  { encoded: { starts, states }, vector }: ReadText,
  { start, end }: Range,
): Float32Array {
  const sum = new Float32Array(vector.length);
  starts.forEach((at, token) => {
    if (at >= start && at < end) addTokens(sum, states, token, token + 1);
  });
  return normalizeVector(sum);
}

/** Written into zeros. */
function meanOfUnitLength(states: Float32Array, from: number, to: number, mean: Float32Array): Float32Array {
  addTokens(mean, states, from, to);
  return normalizeVector(mean);
}

import { normalizeVector } from '../domain/unit-vectors.ts';
import { type EncodedText, sumTokenVectors } from '../ports/token-encoder.ts';
import type { TextRange } from '../text/markdown-blocks.ts';
import { splitSentencesAndCode } from '../text/split-sentences.ts';
import { indexTerms, STOP_WORDS } from '../text/terms.ts';

/** A word with its contextual vector. */
export interface WordVector extends TextRange {
  lower: string;
  /** Its index term; null for a stop word. */
  term: string | null;
  isNumber: boolean;
  /** A content word with a capital that does not start a sentence. */
  isName: boolean;
  /** The index of its sentence. */
  sentence: number;
  /** Of unit length. */
  vector: Float32Array;
}

/** A text with the contextual vectors of its words and sentences. All vectors have unit length. */
export interface TextVectors {
  text: string;
  words: WordVector[];
  sentences: readonly TextRange[];
  sentenceVectors: Float32Array[];
  vector: Float32Array;
  encoded: EncodedText;
}

const WORD = /\d+(?:[.,]\d+)*|[\p{L}\p{M}\p{N}]+(?:['’]\p{L}{1,2}(?!\p{L}))?/gu;

export function toTextVectors(text: string, encoded: EncodedText, dimensions: number): TextVectors {
  const found = splitSentencesAndCode(text);
  const sentences = found.length > 0 ? found : [{ start: 0, end: text.length }];
  const { starts, ends, states } = encoded;
  const words: WordVector[] = [];
  // One allocation for all words; each has at least one token.
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
    const startsSentence = index === (sentences[sentence]?.start ?? 0);
    const term = STOP_WORDS.has(lower) ? null : (indexTerms(written)[0] ?? null);
    const vector = vectors.subarray(used, used + dimensions);
    sumTokenVectors(vector, states, from, token);
    used += dimensions;
    words.push({
      start: index,
      end,
      lower,
      term,
      isNumber: /^\d/.test(written),
      isName: !startsSentence && /^\p{Lu}/u.test(written) && term !== null,
      sentence,
      vector: normalizeVector(vector),
    });
  }
  const sums = sentences.map(() => new Float32Array(dimensions));
  let at = 0;
  for (let i = 0; i < starts.length; i += 1) {
    while (at + 1 < sentences.length && (starts[i] ?? 0) >= (sentences[at + 1]?.start ?? 0)) at += 1;
    const sum = sums[at];
    if (sum !== undefined) sumTokenVectors(sum, states, i, i + 1);
  }
  const sentenceVectors = sums.map(normalizeVector);
  return { text, words, sentences, sentenceVectors, vector: encoded.vector, encoded };
}

/** The vector of a part of a text in its context, of unit length. */
export function poolVector(
  { encoded: { starts, states }, vector }: TextVectors,
  { start, end }: TextRange,
): Float32Array {
  const sum = new Float32Array(vector.length);
  starts.forEach((at, token) => {
    if (at >= start && at < end) sumTokenVectors(sum, states, token, token + 1);
  });
  return normalizeVector(sum);
}

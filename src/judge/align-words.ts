import { dotProduct } from '../domain/unit-vectors.ts';
import { memoizeByObject } from '../text/memoize.ts';
import type { TextVectors } from './text-vectors.ts';

/** The cosines of the words of a claim, or a question, with the words of passages. */
export interface WordAlignment {
  claim: TextVectors;
  passages: readonly TextVectors[];
  /** The indices of the content words of the claim, or of all words if there are none. */
  content: number[];
  /** For each passage, the cosine of claim word `i` and passage word `j` at `i * passage.words.length + j`. */
  cosines: Float32Array[];
  /** All sentences of all passages. */
  sentences: AlignedSentence[];
  /** For each content word, the best cosine in any sentence. */
  best: number[];
}

export interface AlignedSentence {
  /** The index of its passage. */
  passage: number;
  /** Its index in the passage. */
  index: number;
  /** For each content word of the claim, the best cosine in this sentence. */
  best: Float32Array;
  /** The cosine of the whole claim and the sentence. */
  cosine: number;
}

export function alignWords(claim: TextVectors, passages: readonly TextVectors[]): WordAlignment {
  const contentWords = claim.words.flatMap(({ term }, index) => (term === null ? [] : [index]));
  const content = contentWords.length > 0 ? contentWords : claim.words.map((_, index) => index);
  const cosines = passages.map(cosinesWith(claim));
  const sentences = passages.flatMap((passage, at) => {
    const aligned = passage.sentenceVectors.map(
      (vector, index): AlignedSentence => ({
        passage: at,
        index,
        best: new Float32Array(content.length).fill(-1),
        cosine: dotProduct(claim.vector, vector),
      }),
    );
    passage.words.forEach((word, column) => {
      const best = aligned[word.sentence]?.best;
      if (best === undefined) return;
      content.forEach((row, position) => {
        const cosine = cosines[at]?.[row * passage.words.length + column] ?? -1;
        if (cosine > (best[position] ?? -1)) best[position] = cosine;
      });
    });
    return aligned;
  });
  const best = content.map((_, position) =>
    sentences.reduce((most, sentence) => Math.max(most, sentence.best[position] ?? -1), -1),
  );
  return { claim, passages, content, cosines, sentences, best };
}

/** Cached, since a question is compared with the same passages when they are rated and when its answer is checked. */
const cosinesWith = memoizeByObject((claim: TextVectors) =>
  memoizeByObject((passage: TextVectors) =>
    Float32Array.from(
      claim.words.flatMap((row) => passage.words.map((column) => dotProduct(row.vector, column.vector))),
    ),
  ),
);

/** The mean over the content words of a passage, or of one sentence of it, of the best cosine with a claim word. */
export function reverseMean(
  { claim, passages, cosines }: WordAlignment,
  passage: number,
  sentence?: number,
): number {
  const words = passages[passage]?.words ?? [];
  const nearest = words.flatMap((word, column) => {
    if (word.term === null || (sentence !== undefined && word.sentence !== sentence)) return [];
    const ofWord = claim.words.map((_, row) => cosines[passage]?.[row * words.length + column] ?? -1);
    return [Math.max(-1, ...ofWord)];
  });
  return meanOf(nearest);
}

/** A sentence together with its neighbours, which count a little less. */
export interface AlignedWindow {
  /** The index of the sentence in the middle. */
  at: number;
  best: number[];
}

const NEIGHBOUR_LOSS = 0.05;
/** Extra weight of the sentence in the middle, which decides between equal windows. */
const MIDDLE_SHARE = 0.1;

/** The window that is most similar to a claim. */
export function findBestWindow({ sentences, content }: WordAlignment): AlignedWindow {
  let window: AlignedWindow = { at: 0, best: content.map(() => 0) };
  let rank = Number.NEGATIVE_INFINITY;
  sentences.forEach((sentence, at) => {
    const around = [sentences[at - 1], sentences[at + 1]].filter((one) => one?.passage === sentence.passage);
    const best = content.map((_, position) =>
      Math.max(
        sentence.best[position] ?? -1,
        ...around.map((one) => (one?.best[position] ?? -1) - NEIGHBOUR_LOSS),
      ),
    );
    const ranked = meanOf(best) + MIDDLE_SHARE * meanOf(sentence.best);
    if (ranked <= rank) return;
    rank = ranked;
    window = { at, best };
  });
  return window;
}

/**
 * For each phrase of `length` words of a claim, the best cosine with a phrase of the passages. The cosine of two sums of
 * vectors is the sum of the pairwise cosines divided by both lengths, so no vectors are added.
 */
export function alignPhrases({ claim, passages, cosines }: WordAlignment, length: number): number[] {
  const size = Math.min(length, claim.words.length);
  const lengths = phraseLengths(claim, size);
  const best = lengths.map(() => -1);
  passages.forEach((passage, at) => {
    const columns = passage.words.length;
    const found = cosines[at];
    if (columns < size || found === undefined) return;
    const theirs = phraseLengths(passage, size);
    const sums = claim.words.map((_, row) => runningSums(found, row * columns, columns, size));
    lengths.forEach((ours, start) => {
      let most = best[start] ?? -1;
      for (let column = 0; column < theirs.length; column += 1) {
        let sum = 0;
        for (let row = start; row < start + size; row += 1) sum += sums[row]?.[column] ?? 0;
        const cosine = sum / (ours * (theirs[column] ?? 1));
        if (cosine > most) most = cosine;
      }
      best[start] = most;
    });
  });
  return best;
}

/** The sums of every `size` neighbouring values of a row. */
function runningSums(values: Float32Array, from: number, columns: number, size: number): Float64Array {
  const sums = new Float64Array(columns - size + 1);
  let sum = 0;
  for (let column = 0; column < columns; column += 1) {
    sum += values[from + column] ?? 0;
    if (column >= size) sum -= values[from + column - size] ?? 0;
    if (column >= size - 1) sums[column - size + 1] = sum;
  }
  return sums;
}

/** The length of the sum of the word vectors of each phrase. */
function phraseLengths(text: TextVectors, size: number): number[] {
  const cached = lengthsBySize(text).get(size);
  if (cached !== undefined) return cached;
  const lengths: number[] = [];
  const dimensions = text.vector.length;
  const sum = new Float64Array(dimensions);
  text.words.forEach(({ vector }, index) => {
    const removed = text.words[index - size]?.vector;
    let square = 0;
    for (let i = 0; i < dimensions; i += 1) {
      const value = (sum[i] ?? 0) + (vector[i] ?? 0) - (removed?.[i] ?? 0);
      sum[i] = value;
      square += value * value;
    }
    if (index >= size - 1) lengths.push(Math.sqrt(square) || 1);
  });
  lengthsBySize(text).set(size, lengths);
  return lengths;
}

const lengthsBySize = memoizeByObject((_text: TextVectors) => new Map<number, number[]>());

export function meanOf(values: Iterable<number>): number {
  let sum = 0;
  let count = 0;
  for (const value of values) {
    sum += value;
    count += 1;
  }
  return count === 0 ? 0 : sum / count;
}

/** The linearly interpolated quantile; 0 of no values. */
export function quantileOf(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = share * (sorted.length - 1);
  const below = sorted[Math.floor(at)] ?? 0;
  return below + ((sorted[Math.ceil(at)] ?? below) - below) * (at - Math.floor(at));
}

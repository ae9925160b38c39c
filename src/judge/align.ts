import { dotProduct } from '../domain/unit-vectors.ts';
import type { ReadText } from './read-text.ts';

/** How near the words of a claim are to those of some passages. Cosines throughout. */
export interface Alignment {
  claim: ReadText;
  passages: readonly ReadText[];
  /** The indices of the words of the claim that say something; of all words if none does. */
  content: number[];
  /** For each passage, the cosine of word `i` of the claim and word `j` of the passage at `i * words + j`. */
  cosines: Float32Array[];
  /** All sentences of all passages, each with the best cosine for every content word. */
  sentences: AlignedSentence[];
  /** For every content word, the best anywhere. */
  best: number[];
}

export interface AlignedSentence {
  passage: number;
  /** Its number within the passage. */
  index: number;
  best: Float32Array;
  /** Of the whole claim with the sentence. */
  cosine: number;
}

export function align(claim: ReadText, passages: readonly ReadText[]): Alignment {
  const saying = claim.words.flatMap(({ term }, index) => (term === null ? [] : [index]));
  const content = saying.length > 0 ? saying : claim.words.map((_, index) => index);
  const cosines = passages.map((passage) => cosinesOf(claim, passage));
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

/** A question meets the same passages when they are chosen from, and again when its answer is checked. */
const met = new WeakMap<ReadText, WeakMap<ReadText, Float32Array>>();

function cosinesOf(claim: ReadText, passage: ReadText): Float32Array {
  const ofClaim = met.get(claim) ?? new WeakMap<ReadText, Float32Array>();
  met.set(claim, ofClaim);
  const before = ofClaim.get(passage);
  if (before !== undefined) return before;
  const cosines = new Float32Array(claim.words.length * passage.words.length);
  let at = 0;
  for (const row of claim.words) {
    for (const column of passage.words) {
      cosines[at] = dotProduct(row.vector, column.vector);
      at += 1;
    }
  }
  ofClaim.set(passage, cosines);
  return cosines;
}

/** A sentence with the one before it and the one after it, which count a little less. */
export interface AlignedWindow {
  /** The number of the sentence in the middle among all sentences. */
  at: number;
  best: number[];
}

const NEIGHBOUR_LOSS = 0.05;
/** How much the sentence in the middle counts by itself, so that of equal windows the one around it is taken. */
const MIDDLE_SHARE = 0.1;

/** The sentence that is nearest to a claim when it is read with its neighbours. */
export function bestWindow({ sentences, content }: Alignment): AlignedWindow {
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
    const ranked = mean(best) + MIDDLE_SHARE * mean(sentence.best);
    if (ranked <= rank) return;
    rank = ranked;
    window = { at, best };
  });
  return window;
}

/**
 * For each run of so many words of a claim, the cosine of the run in the passages that is nearest to it. The cosine
 * of two sums is the sum of the cosines of their parts over both lengths, so no vector is added up twice.
 */
export function alignPhrases({ claim, passages, cosines }: Alignment, length: number): number[] {
  const size = Math.min(length, claim.words.length);
  const lengths = runLengths(claim, size);
  const best = lengths.map(() => -1);
  passages.forEach((passage, at) => {
    const columns = passage.words.length;
    const found = cosines[at];
    if (columns < size || found === undefined) return;
    const theirs = runLengths(passage, size);
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

/** The sums of every `size` neighbours of a row. */
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

const known = new WeakMap<ReadText, Map<number, number[]>>();

/** How long the sum of the vectors of each run of words is. */
function runLengths(text: ReadText, size: number): number[] {
  const ofText = known.get(text) ?? new Map<number, number[]>();
  known.set(text, ofText);
  const before = ofText.get(size);
  if (before !== undefined) return before;
  const lengths: number[] = [];
  const dimensions = text.vector.length;
  const sum = new Float64Array(dimensions);
  text.words.forEach(({ vector }, index) => {
    const gone = text.words[index - size]?.vector;
    let square = 0;
    for (let i = 0; i < dimensions; i += 1) {
      const value = (sum[i] ?? 0) + (vector[i] ?? 0) - (gone?.[i] ?? 0);
      sum[i] = value;
      square += value * value;
    }
    if (index >= size - 1) lengths.push(Math.sqrt(square) || 1);
  });
  ofText.set(size, lengths);
  return lengths;
}

export function mean(values: Iterable<number>): number {
  let sum = 0;
  let count = 0;
  for (const value of values) {
    sum += value;
    count += 1;
  }
  return count === 0 ? 0 : sum / count;
}

/** The value below which a share of all values lies, between two of them in proportion; 0 of none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = share * (sorted.length - 1);
  const below = sorted[Math.floor(at)] ?? 0;
  return below + ((sorted[Math.ceil(at)] ?? below) - below) * (at - Math.floor(at));
}

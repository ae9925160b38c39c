import { termSaturation } from '../../domain/rank-hits.ts';
import { indexTerms } from '../../text/terms.ts';

export interface SparseVector {
  indices: number[];
  values: number[];
}

/** Title and headings count as much as the text. */
export function extractChunkTerms(title: string, headings: readonly string[], text: string): string[] {
  return [...indexTerms([title, ...headings].join('\n')), ...indexTerms(text)];
}

/** The chunk's factor of BM25 for each of its terms. The other factor, rarity, is in the query's vector. */
export function toSparseVector(terms: readonly string[]): SparseVector {
  const counts = new Map<string, number>();
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  const frequencies = new Map<number, number>();
  for (const [term, count] of counts) {
    const index = hashTerm(term);
    frequencies.set(index, (frequencies.get(index) ?? 0) + count);
  }
  const indices = [...frequencies.keys()];
  const values = Array.from(frequencies.values(), (frequency) =>
    round(termSaturation(frequency, terms.length)),
  );
  return { indices, values };
}

/** Single precision has no more digits near 1, and a double takes twice as many characters to send. */
function round(value: number): number {
  return Math.round(value * 1e8) / 1e8;
}

/** A loop, because `Array.from` with a function takes several times as long. */
export function roundNumbers(values: ArrayLike<number>): number[] {
  const numbers = new Array<number>(values.length);
  for (let at = 0; at < values.length; at += 1) numbers[at] = round(values[at] as number);
  return numbers;
}

/** FNV-1a with the finalizer of MurmurHash3, 32 bits. Must never change: collections store these numbers. */
export function hashTerm(term: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(term)) hash = Math.imul(hash ^ byte, 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

import { termSaturation } from '../../domain/rank-hits.ts';
import { indexTerms } from '../../text/terms.ts';

export interface SparseVector {
  indices: number[];
  values: number[];
}

/** What the full text of a chunk is made of: title and headings count as much as the text below them. */
export function extractChunkTerms(title: string, headings: readonly string[], text: string): string[] {
  return [...indexTerms([title, ...headings].join('\n')), ...indexTerms(text)];
}

/** The part of BM25 that a chunk decides, for each of its terms. The other one, how rare a term is, comes with the query. */
export function toSparseVector(terms: readonly string[], averageLength: number): SparseVector {
  const frequencies = new Map<number, number>();
  for (const term of terms) {
    const index = hashTerm(term);
    frequencies.set(index, (frequencies.get(index) ?? 0) + 1);
  }
  const indices: number[] = [];
  const values: number[] = [];
  for (const [index, frequency] of frequencies) {
    indices.push(index);
    values.push(rounded(termSaturation(frequency, terms.length, averageLength)));
  }
  return { indices, values };
}

/** To what single precision can tell apart near 1: half as many characters to send as a double has. */
function rounded(value: number): number {
  return Math.round(value * 1e8) / 1e8;
}

/** As a plain array, in a loop: `Array.from` with a function takes several times as long. */
export function roundNumbers(values: ArrayLike<number>): number[] {
  const numbers = new Array<number>(values.length);
  for (let at = 0; at < values.length; at += 1) numbers[at] = rounded(values[at] as number);
  return numbers;
}

const indexes = new Map<string, number>();

/** A stable number of 32 bits for a term. A corpus repeats its words: a bounded number of them is remembered. */
export function hashTerm(term: string): number {
  const known = indexes.get(term);
  if (known !== undefined) return known;
  if (indexes.size >= 50_000) indexes.clear();
  const index = hashOf(term);
  indexes.set(term, index);
  return index;
}

/** FNV-1a with the finalizer of MurmurHash3. Collections hold these numbers: it must never change. */
function hashOf(term: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(term)) hash = Math.imul(hash ^ byte, 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

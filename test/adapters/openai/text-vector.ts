import { createHash } from 'node:crypto';

const places = new Map<string, number>();

/** A deterministic vector; texts with common words are similar. */
export function textVector(text: string, dimensions: number): number[] {
  const vector = new Array<number>(dimensions).fill(0);
  for (const word of wordsOf(text)) {
    const place = placeOf(word) % dimensions;
    vector[place] = (vector[place] ?? 0) + 1;
  }
  return vector;
}

/** The share of the query's words in a text. */
export function sharedWords(query: string, text: string): number {
  const words = new Set(wordsOf(text));
  const asked = wordsOf(query);
  return asked.filter((word) => words.has(word)).length / asked.length;
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/\S+/g) ?? [];
}

function placeOf(word: string): number {
  const known = places.get(word) ?? createHash('sha256').update(word).digest().readUInt32BE();
  places.set(word, known);
  return known;
}

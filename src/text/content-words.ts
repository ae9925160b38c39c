import { blankLinkTargets } from './link-targets.ts';
import { indexTerms, STOP_WORDS } from './terms.ts';

/** A word that says something about the topic of a text. */
export interface ContentWord {
  start: number;
  end: number;
  /** Its index term. */
  term: string;
}

const WORD = /\d+(?:[.,]\d+)*|[\p{L}\p{M}\p{N}]+(?:['’]\p{L}{1,2}(?!\p{L}))?/gu;

/** The words of a text without stop words, in order. Word vectors are stored in this order, so it must not change. */
export function findContentWords(text: string): ContentWord[] {
  const words: ContentWord[] = [];
  for (const { 0: written, index } of blankLinkTargets(text).matchAll(WORD)) {
    if (STOP_WORDS.has(written.toLowerCase().replace('’', "'"))) continue;
    const [term] = indexTerms(written);
    if (term !== undefined) words.push({ start: index, end: index + written.length, term });
  }
  return words;
}

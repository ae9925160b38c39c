import { STOP_WORDS } from '../../lexical/stop-words.ts';
import { termsOf } from './claim-terms.ts';

export interface Word {
  /** As written, without the punctuation around it. */
  text: string;
  lower: string;
  /** Its index term; null for a stop word. */
  term: string | null;
  /** A clause ends with it: a comma, a full stop or the like follows. */
  endsClause: boolean;
  endsSentence: boolean;
}

const AROUND_WORD = /^[([{"'“”‘’„«‹<…¿¡,.;:!?—–]+|[)\]}"'“”‘’»›>…,.;:!?—–]+$/gu;

/** A text without the marks of Markdown that do not show: emphasis, links, tables. Code keeps its backticks. */
export function withoutMarkup(text: string): string {
  return text
    .replace(/!?\[([^[\]]{0,300})\]\([^()\s]{0,1000}\)/g, '$1')
    .replace(/(?<![\p{L}\p{N}])_{1,3}(?=\S)|(?<=\S)_{1,3}(?![\p{L}\p{N}_])/gu, '')
    .replace(/\*{2,3}|(?<!\S)\*(?=\S)|(?<=\S)\*(?=[\s.,;:!?)]|$)/g, '')
    .replace(/^[ \t]*#{1,6}[ \t]+/gm, '')
    .replace(/\|/g, ' ');
}

/** The words of a text, in which typographic and plain quotation marks are the same. */
export function wordsOf(text: string): Word[] {
  const words: Word[] = [];
  for (const written of withoutMarkup(text).replace(/`/g, '').split(/\s+/)) {
    const trimmed = trimWord(written);
    if (trimmed === '') {
      const last = words.at(-1);
      if (last !== undefined && /[,.;:!?—–]/.test(written)) last.endsClause = true;
      continue;
    }
    const lower = trimmed.toLowerCase();
    words.push({
      text: trimmed,
      lower,
      term: STOP_WORDS.has(lower) ? null : (termsOf(trimmed)[0] ?? null),
      endsClause: /[,.;:!?—–]["'”’)\]]*$/.test(written),
      endsSentence: /[.!?…。！？]["'”’)\]]*$/.test(written),
    });
  }
  return words;
}

function trimWord(written: string): string {
  // Long runs of punctuation are no word: trimming them would be slow.
  if (written.length > 200) return written.replace(/[’‘]/g, "'");
  return written.replace(AROUND_WORD, '').replace(/[’‘]/g, "'");
}

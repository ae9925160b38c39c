import { STOP_WORDS } from '../../lexical/stop-words.ts';
import { termsOfWord } from './claim-terms.ts';

/** A word as it stands in a text. */
export interface WrittenWord {
  /** Without the punctuation around it. */
  text: string;
  lower: string;
  /** A clause ends with it: a comma, a full stop or the like follows. */
  endsClause: boolean;
  endsSentence: boolean;
}

export interface Word extends WrittenWord {
  /** Its index term; null for a stop word. */
  term: string | null;
}

const MARKUP = /[[_*#|]/;
/** A word that nothing is attached to, as most are. */
const PLAIN_WORD = /^\w+$/;
const AROUND_WORD = /^[([{"'“”‘’„«‹<…¿¡,.;:!?—–]+|[)\]}"'“”‘’»›>…,.;:!?—–]+$/gu;

/** A text without the marks of Markdown that do not show: emphasis, links, tables. Code keeps its backticks. */
export function withoutMarkup(text: string): string {
  if (!MARKUP.test(text)) return text;
  return text
    .replace(/!?\[([^[\]]{0,300})\]\([^()\s]{0,1000}\)/g, '$1')
    .replace(/(?<![\p{L}\p{N}])_{1,3}(?=\S)|(?<=\S)_{1,3}(?![\p{L}\p{N}_])/gu, '')
    .replace(/\*{2,3}|(?<!\S)\*(?=\S)|(?<=\S)\*(?=[\s.,;:!?)]|$)/g, '')
    .replace(/^[ \t]*#{1,6}[ \t]+/gm, '')
    .replace(/\|/g, ' ');
}

/** The words of a text with their terms. */
export function wordsOf(text: string): Word[] {
  return writtenWordsOf(text).map(withTerm);
}

export function withTerm(word: WrittenWord): Word {
  return { ...word, term: STOP_WORDS.has(word.lower) ? null : (termsOfWord(word.text)[0] ?? null) };
}

/** The words of a text, in which typographic and plain quotation marks are the same. */
export function writtenWordsOf(text: string): WrittenWord[] {
  const words: WrittenWord[] = [];
  for (const written of withoutMarkup(text).replace(/`/g, '').split(/\s+/)) {
    const isPlain = PLAIN_WORD.test(written);
    const trimmed = isPlain ? written : trimWord(written);
    if (trimmed === '') {
      const last = words.at(-1);
      if (last !== undefined && /[,.;:!?—–]/.test(written)) last.endsClause = true;
      continue;
    }
    words.push({
      text: trimmed,
      lower: trimmed.toLowerCase(),
      endsClause: !isPlain && /[,.;:!?—–]["'”’)\]]*$/.test(written),
      endsSentence: !isPlain && /[.!?…。！？]["'”’)\]]*$/.test(written),
    });
  }
  return words;
}

function trimWord(written: string): string {
  // Long runs of punctuation are no word: trimming them would be slow.
  if (written.length > 200) return written.replace(/[’‘]/g, "'");
  return written.replace(AROUND_WORD, '').replace(/[’‘]/g, "'");
}

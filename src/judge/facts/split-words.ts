import { memoize } from '../../text/memoize.ts';
import { indexTerms, LONGEST_CACHED_WORD, STOP_WORDS } from '../../text/terms.ts';

/** A word of a text. */
export interface WrittenWord {
  /** Without the punctuation around it. */
  text: string;
  lower: string;
  /** A comma, full stop or similar follows. */
  endsClause: boolean;
  endsSentence: boolean;
}

export interface TermWord extends WrittenWord {
  /** Its index term; null for a stop word. */
  term: string | null;
}

const MARKUP = /[[_*#|]/;
/** A word without punctuation, like most. */
const PLAIN_WORD = /^\w+$/;
const AROUND_WORD = /^[([{"'“”‘’„«‹<…¿¡,.;:!?—–]+|[)\]}"'“”‘’»›>…,.;:!?—–]+$/gu;

/** Removes the Markdown of emphasis, links, headings and tables. Code keeps its backticks. */
export function stripMarkdown(text: string): string {
  if (!MARKUP.test(text)) return text;
  return text
    .replace(/!?\[([^[\]]{0,300})\]\([^()\s]{0,1000}\)/g, '$1')
    .replace(/(?<![\p{L}\p{N}])_{1,3}(?=\S)|(?<=\S)_{1,3}(?![\p{L}\p{N}_])/gu, '')
    .replace(/\*{2,3}|(?<!\S)\*(?=\S)|(?<=\S)\*(?=[\s.,;:!?)]|$)/g, '')
    .replace(/(?:^[ \t]*|(?<=\s))#{1,6}[ \t]+/gm, '')
    .replace(/\|/g, ' ');
}

/** The words of a text with their terms. */
export function splitTermWords(text: string): TermWord[] {
  return splitWords(text).map((word) => ({
    ...word,
    term: STOP_WORDS.has(word.lower) ? null : (toBaseTermsOfWord(word.text)[0] ?? null),
  }));
}

/** The words of a text, with plain quotation marks. */
export function splitWords(text: string): WrittenWord[] {
  const words: WrittenWord[] = [];
  for (const written of stripMarkdown(text).replace(/\\?`/g, '').split(/\s+/)) {
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
  // Trimming long runs of punctuation would be slow.
  if (written.length > 200) return written.replace(/[’‘]/g, "'");
  return written.replace(AROUND_WORD, '').replace(/[’‘]/g, "'");
}

/** Words with the irregular forms that the stemmer does not map to them. */
const IRREGULAR = `send sent, lose lost, build built, make made, keep kept, hold held, find found, give given gave, take taken
  took, write written wrote, choose chosen chose, run ran, begin began begun, know known knew, show shown, mean
  meant, buy bought, bring brought, teach taught, lead led, pay paid, say said, speak spoken spoke, break broken
  broke, drive driven drove, grow grown grew, become became, child children, person people, index indices indexes,
  matrix matrices, vertex vertices`;

/** Words about the text itself. They count only if the source has them. */
const OPTIONAL = `roughly approximately typically usually generally basically essentially simply additionally
  furthermore moreover however therefore thus page document documentation docs text source article guide chapter
  section manual says mentions explains describes according note overall example`;

let bases: Map<string, string> | undefined;

/** The index terms of a text, with irregular forms replaced by their base forms. */
export function toBaseTerms(text: string): string[] {
  bases ??= new Map(
    IRREGULAR.split(/,\s+/).flatMap((entry) => {
      const [base = '', ...forms] = entry.split(/\s+/);
      return forms.map((form): [string, string] => [termOf(form), termOf(base)]);
    }),
  );
  const known = bases;
  return indexTerms(text).map((term) => known.get(term) ?? term);
}

/** `toBaseTerms` one word, cached. */
export const toBaseTermsOfWord: (word: string) => readonly string[] = memoize(
  { size: 5_000, longestKey: LONGEST_CACHED_WORD },
  toBaseTerms,
);

let optional: Set<string> | undefined;

export function isOptionalTerm(term: string): boolean {
  optional ??= new Set(indexTerms(OPTIONAL));
  return optional.has(term);
}

function termOf(word: string): string {
  return indexTerms(word)[0] ?? word;
}

import { indexTerms, queryTerms, STOP_WORDS } from '../text/terms.ts';

/** Where a part of a question ends. It is typed in haste: a colon sets a story apart, and a capital opens no sentence. */
const PART_END = /(?<=[.?!:])\s+/;
const WORD = /[\p{L}\p{N}][\p{L}\p{N}\p{M}_.:/@+'’-]*[\p{L}\p{N}]|[\p{L}\p{N}]/gu;
/** Markup is not something that is asked about. */
const MARKUP = /<[^>]*>|\[[^\]]*\]\([^)]*\)|https?:\/\/\S+/g;
const IDENTIFIER = /\p{L}_\p{L}|\p{Ll}\p{Lu}|::|\p{L}\.\p{L}{2}/u;
/** Numbers and hosts are the asker's own as often as not. */
const OWN = /^[\d.,:/%-]+$|^(?:[\w-]+\.)+(?:com|org|net|dev|local|io\/.*)$/;
const NO_NAME = /^(?:I|I['’]\w+|BTW|FYI|ASAP|IMO|FAQ|PLS|[A-Z]{1,2})$/;
/** A question in which most words are capitals has no names to be told by them. */
const SHARE_OF_CAPITALS = 0.6;
/** Shorter names are too like each other to forgive a letter. */
const FORGIVING_FROM = 6;

/**
 * The names and identifiers of a question that are in none of the terms. Passages that never mention
 * what a question names do not answer it, however near they are otherwise.
 */
export function missingNames(question: string, terms: ReadonlySet<string>): string[] {
  return namesIn(whatIsAsked(question)).filter((name) => !isNamed(name, terms));
}

/** The sentences that ask, if they say about what; a story that comes before them may name anything. */
function whatIsAsked(question: string): string {
  const asking = question
    .split(PART_END)
    .filter((sentence) => sentence.endsWith('?'))
    .join(' ');
  return queryTerms(asking).length > 1 ? asking : question;
}

/** What is written like a name: with a capital that opens no sentence, or like an identifier. */
function namesIn(question: string): string[] {
  const names: string[] = [];
  for (const sentence of question.replace(MARKUP, ' ').split(PART_END)) {
    const words = sentence.match(WORD) ?? [];
    const capitals = words.filter((word) => /^\p{Lu}/u.test(word)).length;
    const shouts = words.length > 3 && capitals >= SHARE_OF_CAPITALS * words.length;
    words.forEach((word, index) => {
      if (NO_NAME.test(word) || STOP_WORDS.has(word.toLowerCase())) return;
      const isCapital = index > 0 && !shouts && /^\p{Lu}/u.test(word);
      if ((isCapital || IDENTIFIER.test(word)) && !OWN.test(word)) names.push(word);
    });
  }
  return names;
}

function isNamed(name: string, terms: ReadonlySet<string>): boolean {
  const parts = indexTerms(name);
  const whole = parts.at(-1);
  if (whole === undefined || terms.has(whole)) return true;
  // "Actor-Critic" may be written "actor critic", but RealSense is more than something real and a sense.
  if (/[\s/-]/.test(name) && parts.slice(0, -1).every((part) => terms.has(part))) return true;
  return whole.length >= FORGIVING_FROM && [...terms].some((term) => isOneLetterApart(whole, term));
}

/** Whether one letter too many, too few or another one is all that two words differ by. */
function isOneLetterApart(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1) return false;
  let start = 0;
  while (start < a.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  return Math.max(a.length, b.length) - start - end <= 1;
}

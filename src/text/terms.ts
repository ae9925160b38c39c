import { stemmer } from 'stemmer';
import { blankLinkTargets } from './link-targets.ts';
import { memoize } from './memoize.ts';

/** Letters with their accents, digits, and the characters that join the parts of an identifier. */
const WORD = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*(?:(?:[_.:/@+-]+|['’])[\p{L}\p{N}][\p{L}\p{N}\p{M}]*)*/gu;
const SEPARATOR = /[_.:/@+'’-]+/u;
/** Between the humps of camelCase, and between letters and the capital that starts a word: `HTTPServer`. */
const CAMEL_CASE_BOUNDARY = /(?<=\p{Ll}|\p{N})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u;
const POSSESSIVE = /['’]s$/iu;
/** Scripts that are written without spaces between words. */
const UNSPACED = /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]/u;
const UNSPACED_RUN = new RegExp(`((?:${UNSPACED.source})+)`, 'u');

/**
 * The index terms of a text, in order: lower case, without diacritics, English words stemmed. A compound such as
 * `rclpy.spin_once` or `SimulationApp` yields its parts and the whole without separators. Scripts without spaces yield
 * pairs of neighbouring characters.
 */
export function indexTerms(text: string): string[] {
  const terms: string[] = [];
  for (const word of blankLinkTargets(text).match(WORD) ?? [])
    for (const term of termsOfWord(word)) terms.push(term);
  return terms;
}

/** The distinct terms of a query without stop words; of all its words if all are stop words. */
export function queryTerms(query: string): string[] {
  const terms: string[] = [];
  // "CAN" is an acronym in "CAN bus", but not in "CAN IT RUN?".
  const isAllCaps = query === query.toUpperCase();
  for (const word of query.match(WORD) ?? []) {
    const isAcronym = !isAllCaps && word.length > 1 && word === word.toUpperCase();
    if (isAcronym || !isStopWord(word)) terms.push(...termsOfWord(word));
  }
  return [...new Set(terms.length > 0 ? terms : indexTerms(query))];
}

function isStopWord(word: string): boolean {
  return STOP_WORDS.has(word.replace(POSSESSIVE, '').replace('’', "'").toLowerCase());
}

/** Longer words are rare, and a text without spaces is one word. */
export const LONGEST_CACHED_WORD = 40;

/** Cached, since folding and stemming are slow and texts repeat their words. */
const termsOfWord = memoize({ size: 25_000, longestKey: LONGEST_CACHED_WORD }, (word): readonly string[] => {
  const parts = word.replace(POSSESSIVE, '').split(SEPARATOR);
  const terms = parts.flatMap((part) => {
    if (UNSPACED.test(part))
      return part.split(UNSPACED_RUN).flatMap((run, index) => (index % 2 === 1 ? toPairs(run) : toTerm(run)));
    const words = part.split(CAMEL_CASE_BOUNDARY);
    return [...(words.length > 1 ? words : []), part].map(toTerm);
  });
  if (parts.length > 1) terms.push(toTerm(parts.join('')));
  return terms.filter((term) => term !== '');
});

function toPairs(run: string): string[] {
  const characters = Array.from(fold(run));
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}

/** Lower case without diacritics and without the signs in letters such as ½ and ⑴. */
function fold(word: string): string {
  return word
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '');
}

function toTerm(word: string): string {
  const folded = fold(word);
  return folded.length < 3 || !/^[a-z]+$/.test(folded) ? folded : stemmer(folded);
}

/** English words that say nothing about the topic of a question. They are indexed, but not searched for. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about above after again against all also am an and any are as at be because been before being below
  between both but by can could did do does doing done down during each few for from further get gets got had
  has have having he her here hers him his how i if in into is it its itself just let like may me might more
  most much must my no nor not now of off on once only or other our ours out over own please same shall she
  should so some such tell than that the their theirs them then there these they this those through to too
  under until up us very was we were what when where which while who whom whose why will with would you your
  yours ain't aren't can't couldn't didn't doesn't don't hadn't hasn't haven't i'd i'll i'm i've isn't shouldn't
  they'll they're they've wasn't we'll we're we've weren't won't wouldn't you'd you'll you're you've`.split(
    /\s+/,
  ),
);

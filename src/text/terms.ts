import { stemmer } from 'stemmer';
import { itself, remembering } from './remembering.ts';

/** Runs of letters (with their accents), digits and the characters that hold an identifier together. */
const WORD = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*(?:(?:[_.:/@+-]+|['’])[\p{L}\p{N}][\p{L}\p{N}\p{M}]*)*/gu;
const SEPARATOR = /[_.:/@+'’-]+/u;
/** Between the humps of camelCase, and between letters and the capital that starts a word: `HTTPServer`. */
const HUMP = /(?<=\p{Ll}|\p{N})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u;
const POSSESSIVE = /['’]s$/iu;
/** Scripts that are written without spaces between words. */
const UNSPACED = /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]/u;
const UNSPACED_RUN = new RegExp(`((?:${UNSPACED.source})+)`, 'u');

/**
 * The index terms of a text, in order: lower case, without diacritics, English words stemmed.
 * A compound such as `rclpy.spin_once` or `SimulationApp` yields its parts and itself with the
 * separators removed, so that it is found both by its name and by its words. Scripts without spaces
 * yield pairs of neighbouring characters.
 */
export function indexTerms(text: string): string[] {
  const terms: string[] = [];
  for (const word of text.match(WORD) ?? []) for (const made of termsOfWord(word)) terms.push(made);
  return terms;
}

/** The distinct terms worth searching for. If a query is made of stop words only, all of them count. */
export function queryTerms(query: string): string[] {
  const terms: string[] = [];
  // "CAN bus" speaks of a bus, "CAN IT RUN?" just shouts.
  const shouts = query === query.toUpperCase();
  for (const word of query.match(WORD) ?? []) {
    const isAcronym = !shouts && word.length > 1 && word === word.toUpperCase();
    if (isAcronym || !isStopWord(word)) terms.push(...termsOfWord(word));
  }
  return [...new Set(terms.length > 0 ? terms : indexTerms(query))];
}

function isStopWord(word: string): boolean {
  return STOP_WORDS.has(word.replace(POSSESSIVE, '').replace('’', "'").toLowerCase());
}

const MOST_REMEMBERED = 25_000;
/** Nothing longer: a page without a space would be kept whole. */
export const LONGEST_REMEMBERED = 40;

/** Folding and stemming cost a dozen regular expressions a word, and a corpus repeats its words. */
const termsOfWord = remembering(
  { most: MOST_REMEMBERED, keyOf: itself, longest: LONGEST_REMEMBERED },
  (word): readonly string[] => {
    const terms: string[] = [];
    addTerms(word, terms);
    return terms;
  },
);

function addTerms(word: string, terms: string[]): void {
  const parts = word.replace(POSSESSIVE, '').split(SEPARATOR);
  for (const part of parts) {
    if (UNSPACED.test(part)) {
      part.split(UNSPACED_RUN).forEach((run, index) => {
        if (index % 2 === 1) addPairs(run, terms);
        else addTerm(run, terms);
      });
      continue;
    }
    const humps = part.split(HUMP);
    if (humps.length > 1) for (const hump of humps) addTerm(hump, terms);
    addTerm(part, terms);
  }
  if (parts.length > 1) addTerm(parts.join(''), terms);
}

function addTerm(word: string, terms: string[]): void {
  const made = term(word);
  if (made !== '') terms.push(made);
}

function addPairs(run: string, terms: string[]): void {
  const characters = Array.from(fold(run));
  if (characters.length === 1) terms.push(...characters);
  for (let i = 1; i < characters.length; i += 1) terms.push(`${characters[i - 1]}${characters[i]}`);
}

/** Lower case without diacritics. Some letters and digits are made of more than that, such as ½ and ⑴: it is dropped. */
function fold(word: string): string {
  return word
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '');
}

function term(word: string): string {
  const folded = fold(word);
  return folded.length < 3 || !/^[a-z]+$/.test(folded) ? folded : stemmer(folded);
}

/** English words, contractions among them, that say nothing about what a question is about. They are indexed, but not searched for. */
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

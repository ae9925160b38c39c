import {
  claimedNumbersIn,
  identifiersIn,
  isNumber,
  isUnit,
  type NumberFact,
  namesIn,
  proseOf,
  quotesIn,
} from './claim-facts.ts';
import {
  type Evidence,
  type EvidenceClause,
  type EvidenceSource,
  evidenceOf,
  oneSpaced,
  wordingOf,
} from './evidence.ts';
import { contentOf, findPassage } from './find-passage.ts';
import { contradicts } from './negation.ts';
import { rolesSwapped } from './roles.ts';
import { termsOf, type Word, withTerm, wordsOf, writtenWordsOf } from './words.ts';

/** What a sentence says that can be looked up in a text, and whether it is there. */
export interface ClaimFacts {
  /** It stands there word for word, as one or more whole sentences. */
  whole: boolean;
  /** The share of its content words in the clauses that share most. */
  share: number;
  /** What stands nowhere in the text, its title or its headings. */
  missing: Record<'quotes' | 'identifiers' | 'numbers' | 'names', string[]>;
  /** How many of its numbers stand elsewhere than in those clauses. */
  numbersFar: number;
  /** How many of them are said of something else there, while another number is said of this. */
  numbersOfAnother: number;
  contradicts: boolean;
  rolesSwapped: boolean;
}

export function factsOf(sentence: string, source: EvidenceSource): ClaimFacts {
  const wording = wordingOf(source);
  const evidence = evidenceOf(source);
  const claim = prepareClaim(sentence, writtenWordsOf(sentence).map(withTerm), evidence);
  const { words, content, numbers, names } = claim;
  const passage = findPassage(content, evidence);
  const isGiven = (clauses: readonly EvidenceClause[]) => {
    const given = numbersOf(clauses, evidence);
    return (number: NumberFact) => givesNumber(given, number, sentence, evidence);
  };
  const isAnywhere = isGiven(evidence.clauses);
  const isNear = isGiven(passage.clauses);
  return {
    whole: wording.findWhole(words) !== null,
    share: passage.support,
    missing: {
      quotes: quotesIn(sentence).filter((quote) => !wording.holdsQuote(writtenWordsOf(quote))),
      identifiers: identifiersIn(sentence).filter((name) => !holdsIdentifier(evidence, name)),
      numbers: numbers.filter((number) => !isAnywhere(number)).map(({ value }) => value),
      names: names.filter((name) => !holdsName(evidence, name)),
    },
    numbersFar: numbers.filter((number) => !isNear(number)).length,
    numbersOfAnother: numbers.filter((number) => belongsToAnother(sentence, number, passage.clauses)).length,
    contradicts: contradicts(words, content, passage),
    rolesSwapped: passage.best !== null && rolesSwapped(words, passage.best.words),
  };
}

/** Of the quotes and of the numbers of a sentence, whether any of some chunks holds each. */
export function heldFacts(
  sentence: string,
  chunks: readonly EvidenceSource[],
): { quotes: boolean[]; numbers: boolean[] } {
  const evidences = chunks.map(evidenceOf);
  return {
    quotes: quotesIn(sentence).map((quote) =>
      chunks.some((chunk) => wordingOf(chunk).holdsQuote(writtenWordsOf(quote))),
    ),
    numbers: claimedNumbersIn(sentence).map((number) =>
      evidences.some((evidence) =>
        givesNumber(numbersOf(evidence.clauses, evidence), number, sentence, evidence),
      ),
    ),
  };
}

export interface PreparedClaim {
  sentence: string;
  words: Word[];
  /** The terms of each content word. */
  content: (readonly string[])[];
  numbers: NumberFact[];
  names: string[];
}

export function prepareClaim(sentence: string, words: Word[], evidence: Evidence): PreparedClaim {
  return {
    sentence,
    words,
    content: contentOf(words, evidence),
    numbers: claimedNumbersIn(sentence),
    names: namesIn(sentence),
  };
}

export function holdsNumbers(
  { sentence, numbers }: PreparedClaim,
  clauses: readonly EvidenceClause[],
  evidence: Evidence,
): boolean {
  const given = numbersOf(clauses, evidence);
  return numbers.every((number) => givesNumber(given, number, sentence, evidence));
}

/** Whether a chunk holds a name of code, as a whole word. Its case does not count, and a plural may follow. */
export function holdsIdentifier({ haystack }: Evidence, name: string): boolean {
  const sought = oneSpaced(name).trim();
  const opensWord = /^[\p{L}\p{N}_]/u.test(sought);
  const endsWord = /[\p{L}\p{N}_]$/u.test(sought);
  const endsNumber = /\d$/.test(sought);
  for (let at = haystack.indexOf(sought); at >= 0; at = haystack.indexOf(sought, at + 1)) {
    const before = haystack.charAt(at - 1);
    const after = haystack.slice(at + sought.length, at + sought.length + 3);
    if (opensWord && /[\p{L}\p{N}_]/u.test(before)) continue;
    if (endsWord && !/^s?(?![\p{L}\p{N}_])/u.test(after)) continue;
    // Another group of digits makes another version: 1.2 is not 1.2.3.
    if (!(endsNumber && /^\.\d/.test(after))) return true;
  }
  return holdsApart(haystack, name);
}

/** Whether a chunk, its title or its headings hold a name. */
export function holdsName({ haystack, terms }: Evidence, name: string): boolean {
  const term = termsOf(name).at(-1);
  return term === undefined || terms.has(term) || holdsApart(haystack, name);
}

/** OpenUSD is Open USD and open-usd too. */
function holdsApart(haystack: string, name: string): boolean {
  if (!/^[\p{L}\p{N}]+$/u.test(name)) return false;
  const parts = name.split(/(?<=\p{Ll}|\p{N})(?=\p{Lu})/u);
  if (parts.length < 2) return false;
  return new RegExp(`(?<![\\p{L}\\p{N}_])${parts.join('[ -]')}s?(?![\\p{L}\\p{N}_])`, 'iu').test(haystack);
}

const LOOK_AROUND = 40;
const WORDS_AROUND = 3;

/** The numbers of some clauses of a chunk, and of its title and headings. */
function numbersOf(clauses: readonly EvidenceClause[], { contextNumbers }: Evidence): NumberFact[] {
  return [...clauses.flatMap((one) => one.numbers), ...contextNumbers];
}

/** Whether a number is given with the same unit, or nowhere with another one, or as part of a name. */
function givesNumber(
  given: readonly NumberFact[],
  number: NumberFact,
  sentence: string,
  { haystack }: Evidence,
): boolean {
  const { value, unit } = number;
  const same = given.filter((one) => one.value === value);
  const holds =
    unit === null
      ? same.length > 0
      : same.some((one) => one.unit === unit) || (same.length > 0 && same.every((one) => one.unit === null));
  return holds || isPartOfName(sentence, number, haystack);
}

/** "ROS 2" in a text that writes ROS2. */
function isPartOfName(sentence: string, { at, value }: NumberFact, haystack: string): boolean {
  const before = proseOf(sentence).slice(Math.max(0, at - LOOK_AROUND), at);
  const name = /\p{L}+(?=[\s-]$)/u.exec(before)?.[0];
  return name !== undefined && haystack.includes(`${name.toLowerCase()}${value}`);
}

/** Whether the text gives a number of the sentence for something else, and another number for this. */
export function belongsToAnother(
  sentence: string,
  number: NumberFact,
  evidence: readonly EvidenceClause[],
): boolean {
  const around = termsAround(proseOf(sentence), number);
  const isNearTheSame = (accepts: (found: NumberFact) => boolean) =>
    evidence.some(({ prose, numbers }) =>
      numbers.some((found) => accepts(found) && !termsAround(prose, found).isDisjointFrom(around)),
    );
  return (
    !isNearTheSame(({ value }) => value === number.value) &&
    isNearTheSame(({ value }) => value !== number.value)
  );
}

const CUT = /[,;:!?()]|\.(?:\s|$)|\b(?:and|or|then|to)\b|\d/i;

/** The content words next to a number, up to the next number or the end of the phrase; its unit does not count. */
function termsAround(prose: string, { at, end }: NumberFact): Set<string> {
  const before =
    prose
      .slice(Math.max(0, at - LOOK_AROUND), at)
      .split(CUT)
      .at(-1) ?? '';
  const after = prose.slice(end, end + LOOK_AROUND).split(CUT)[0] ?? '';
  const near = [...wordsOf(before).slice(-WORDS_AROUND), ...wordsOf(after).slice(0, WORDS_AROUND + 1)];
  return new Set(
    near.flatMap(({ term, lower }) => (term === null || isUnit(lower) || isNumber(lower) ? [] : [term])),
  );
}

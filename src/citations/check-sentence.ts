import type { FlagReason } from '../domain/checked-sentence.ts';
import type { ChunkWords } from '../ports/chunk-store.ts';
import type { CitedSentence, SentenceCheck } from '../ports/citation-checker.ts';
import { STOP_WORDS } from '../text/terms.ts';
import {
  type ChunkMatch,
  contentWordsOf,
  findEvidence,
  findQuote,
  matchTerms,
  matchVectors,
  meanMatch,
} from './match-sentence.ts';

// The whole decision about a cited sentence. decisions/0012 has the error rates of each constant.

export const CHECK_LIMITS = {
  /** A sentence whose words are less similar to those of every cited chunk is flagged. */
  similarity: 0.45,
  /** The same without word vectors: the share of its content words that some cited chunk has. */
  overlap: 0.2,
  /** A name that no source has is flagged if no word of the sources is as similar to it. */
  similarName: 0.45,
};
/** A sentence of a source that has this share of a sentence's words says the same, or the opposite. */
const SAME_STATEMENT = 0.9;
/** A source that denies more than the sentence says may deny the rest. */
const LONGEST_DENIAL = 1.2;
/** Content words. Of fewer, too little is known to call a sentence unlike its source. */
const FEWEST_COMPARED = 5;
/** Introduces a list or code. It often says nothing that a source could. */
const LEAD_IN = /:["'”’)*_]*$/;
const NEGATION =
  /\b(?:not(?! only\b| just\b| merely\b| necessarily\b)|cannot|never|no(?!,)|none|neither|nor|nothing|nobody|without|hardly|\p{L}+n['’]t)\b/iu;

/** A sentence with its word vectors, in the order of `findContentWords`; null if it was not encoded. */
export interface EncodedSentence extends CitedSentence {
  words: Int8Array | null;
}

/**
 * Decides whether the cited chunks support a sentence, and finds the best match in them. Compares word vectors if the
 * sentence and every chunk have them, else the words themselves.
 */
export function checkSentence(
  sentence: EncodedSentence,
  vectors: ReadonlyMap<string, ChunkWords>,
  question: string,
  limits = CHECK_LIMITS,
): SentenceCheck {
  const { text, chunks, refs, words } = sentence;
  const quote = findQuote(sentence);
  if (quote !== null) return { verdict: 'quoted', reason: null, evidence: quote };
  const isEncoded = words !== null && chunks.every(({ chunkId }) => vectors.has(chunkId));
  const matches = chunks.map((chunk) =>
    isEncoded
      ? matchVectors(words, chunk, vectors.get(chunk.chunkId) as ChunkWords)
      : matchTerms(text, chunk),
  );
  const evidence = findEvidence(matches);
  if (LEAD_IN.test(text)) return { verdict: 'supported', reason: null, evidence };
  const isSimilar =
    contentWordsOf(text).length < FEWEST_COMPARED ||
    matches.some((match) => meanMatch(match.words) >= (isEncoded ? limits.similarity : limits.overlap));
  const reason =
    findMissingFact(sentence, question, isEncoded ? matches : null, limits) ??
    findFlippedNegation(sentence) ??
    (isSimilar ? null : toReason('dissimilar', `nothing in ${formatRefs(refs)} resembles this`));
  return { verdict: reason === null ? 'supported' : 'unsupported', reason, evidence };
}

/** A number, code, quote or name of the sentence that neither the cited chunks nor the question have. */
function findMissingFact(
  { text, chunks, refs }: CitedSentence,
  question: string,
  matches: readonly ChunkMatch[] | null,
  { similarName }: typeof CHECK_LIMITS,
): FlagReason | null {
  const path = [...chunks.flatMap((chunk) => [chunk.title, ...chunk.headings]), question].join('\n');
  const texts = [path, ...chunks.map((chunk) => chunk.text)];
  const source = texts.join('\n');
  const terms = new Set(texts.flatMap(contentWordsOf).map(({ term }) => term));
  const findMissingName = () =>
    findClaimedNames(text).find(({ start, phrase }) => {
      const index = contentWordsOf(text).findIndex((word) => word.start === start);
      const isKnown = contentWordsOf(phrase).some(({ term }) => terms.has(term));
      return !isKnown && matches?.every(({ words }) => (words[index] ?? 1) < similarName);
    })?.name;
  const missing: [FlagReason['kind'], string | undefined][] = [
    ['number', findMissingNumbers(text, source)[0]],
    ['code', findMissingCode(text, source)],
    ['quote', findMissingQuote(text, terms)],
    ['name', findMissingName()],
  ];
  const [kind, fact] = missing.find((one) => one[1] !== undefined) ?? [];
  return kind === undefined ? null : toReason(kind, `"${fact}" is not in ${formatRefs(refs)}`);
}

/** Whether the sentence denies what a source says in the same words, or says what a source of its length denies. */
function findFlippedNegation({ text, chunks, refs }: CitedSentence): FlagReason | null {
  const units = chunks.flatMap((chunk) =>
    matchTerms(text, chunk).units.map(({ start, end, words, from, to }) => ({
      share: words.length === 0 ? 0 : meanMatch(words),
      length: to - from,
      isNegated: isNegated(chunk.text.slice(start, end)),
    })),
  );
  const [best] = units.sort((a, b) => b.share - a.share);
  const denies = isNegated(text);
  if (best === undefined || best.share < SAME_STATEMENT || best.isNegated === denies) return null;
  if (denies) return toReason('negation', `${formatRefs(refs)} says it without a negation`);
  const isLonger = best.length > LONGEST_DENIAL * contentWordsOf(text).length;
  return isLonger ? null : toReason('negation', `${formatRefs(refs)} denies it`);
}

/** Whether a text denies something. */
export function isNegated(text: string): boolean {
  return NEGATION.test(text);
}

function toReason(kind: FlagReason['kind'], text: string): FlagReason {
  return { kind, text };
}

export function formatRefs(refs: readonly string[]): string {
  return refs.map((ref) => `[${ref}]`).join('');
}

/** A number with its unit. */
interface NumberFact {
  written: string;
  value: number;
  unit: { kind: string; size: number } | null;
  /** Part of a name, as in "Part 2" and "2018-19". */
  isNamed: boolean;
}

/** Digits after a letter belong to a name, and those with several dots to a version. */
const NUMBER =
  /(?<![\p{L}\p{N}_.,:/]|\p{L}-)\d+(?:[,\u00a0\u202f'_]\d{3})*(?:\.\d+)?(?![\d_:/]|[.,]\d)(?:[\s\u00a0-]?(%|°|[A-Za-zµ]+))?/gu;
const LIST_NUMBER = /^\s*(?:[-*+•]\s*)?\d{1,3}[.)](?=\s|$)/gm;
/** What stands before a number that names something. */
const BEFORE_LABEL =
  /(?:\b(?:section|chapter|part|figure|fig\.|table|step|page|line|option|example|appendix|note|item|passage|source|no\.)\s|#|\d{4}[-–])$/i;

/** From zero to nineteen, then the tens. */
const SMALL_NUMBERS = new Map(
  `zero,zeroth one,first two,second three,third four,fourth five,fifth six,sixth seven,seventh eight,eighth nine,ninth
  ten,tenth eleven,eleventh twelve,twelfth thirteen,thirteenth fourteen,fourteenth fifteen,fifteenth sixteen,sixteenth
  seventeen,seventeenth eighteen,eighteenth nineteen,nineteenth twenty,twentieth thirty,thirtieth forty,fortieth
  fifty,fiftieth sixty,sixtieth seventy,seventieth eighty,eightieth ninety,ninetieth`
    .split(/\s+/)
    .flatMap((words, index) =>
      words.split(',').map((word): [string, number] => [word, index < 20 ? index : 10 * (index - 18)]),
    ),
);
const SCALES = new Map(
  Object.entries({
    hundred: 100,
    dozen: 12,
    k: 1e3,
    thousand: 1e3,
    M: 1e6,
    million: 1e6,
    B: 1e9,
    bn: 1e9,
    billion: 1e9,
    trillion: 1e12,
  }),
);
const SPELLED_WORD = `(?:${[...SMALL_NUMBERS.keys(), ...SCALES.keys()].filter((name) => name.length > 2).join('|')})`;
const SPELLED = new RegExp(
  `(?<!\\d[\\s-]?)\\b${SPELLED_WORD}(?:[\\s-](?:and\\s)?${SPELLED_WORD})*\\b(?=(?:[\\s-]([A-Za-z]+))?)`,
  'gi',
);
/** Smaller numbers in words are often the count of what a source lists. */
const LEAST_SPELLED = 13;

/** Units with their size in the first unit of their line and their other names. Those of the last line are of a kind each. */
const UNITS = new Map(
  `s 1 sec second; ms 1e-3 millisecond; min 60 minute; h 3600 hr hour; day 86400; week 604800; month 2629800; year 31557600
  byte 1; kb 1e3 kilobyte; mb 1e6 megabyte; gb 1e9 gigabyte; tb 1e12 terabyte
  m 1 meter metre; mm 1e-3 millimeter; cm 1e-2 centimeter; km 1e3 kilometer kilometre; inch 0.0254 inches; foot 0.3048 feet ft; mile 1609.344
  % 1 percent; time 1; degree 1 °; point 1; dollar 1; euro 1`
    .split('\n')
    .flatMap((line, row) =>
      line.split(';').flatMap((entry) => {
        const [name = '', size, ...aliases] = entry.trim().split(' ');
        const unit = { kind: row === 3 ? name : String(row), size: Number(size) };
        return [name, ...aliases].map((alias): [string, typeof unit] => [alias, unit]);
      }),
    ),
);

function findUnit(word: string) {
  const name = word.toLowerCase();
  return UNITS.get(name) ?? UNITS.get(name.replace(/s$/, '')) ?? null;
}

/** The numbers in digits of a text, outside of code. */
export function findDigits(text: string): NumberFact[] {
  const prose = removeCode(text).replace(LIST_NUMBER, '');
  return Array.from(prose.matchAll(NUMBER), ({ 0: whole, 1: suffix = '', index }) => {
    const digits = /^[\d.,\u00a0\u202f'_]*\d/.exec(whole)?.[0] ?? whole;
    const isNamed = BEFORE_LABEL.test(prose.slice(Math.max(0, index - 20), index));
    const scale = SCALES.get(suffix) ?? SCALES.get(suffix.toLowerCase());
    const unit = findUnit(suffix);
    const value = Number(digits.replace(/[,\u00a0\u202f'_]/g, '')) * (scale ?? 1);
    return {
      written: scale === undefined && unit === null ? digits : whole,
      value,
      unit: scale === undefined ? unit : null,
      isNamed,
    };
  });
}

/** Writes "two hundred" as 200, and smaller numbers than `least` only before a unit. */
function spelledToDigits(text: string, least: number): string {
  return text.replace(SPELLED, (whole: string, suffix = '') => {
    let value = 0;
    let part = 0;
    for (const word of whole.toLowerCase().split(/[\s-]/)) {
      const scale = SCALES.get(word);
      part = scale === undefined ? part + (SMALL_NUMBERS.get(word) ?? 0) : Math.max(1, part) * scale;
      if ((scale ?? 0) >= 1000) {
        value += part;
        part = 0;
      }
    }
    return value + part >= least || findUnit(suffix) !== null ? String(value + part) : whole;
  });
}

/** The numbers of a claim that no source has with this unit, or in another unit, or more precisely. */
export function findMissingNumbers(claim: string, source: string): string[] {
  const claimed = findDigits(spelledToDigits(claim, LEAST_SPELLED)).filter(({ isNamed }) => !isNamed);
  if (claimed.length === 0) return [];
  const given = findDigits(spelledToDigits(source.replace(/`/g, ' '), 0));
  const isGiven = (fact: NumberFact) =>
    given.some((one) => isSameQuantity(fact, one)) ||
    (!given.some(({ value }) => value === fact.value) && containsDigits(source, fact.value));
  return claimed.filter((fact) => !isGiven(fact)).map(({ written }) => written);
}

/** Whether a claimed number is a given one, in any unit, or a rounded form of it: "over 1,800" for 1,834. */
function isSameQuantity(claimed: NumberFact, given: NumberFact): boolean {
  if (claimed.unit !== null && given.unit !== null && claimed.unit !== given.unit) {
    // Kilobytes have 1,000 or 1,024 bytes.
    const ratio = (claimed.value * claimed.unit.size) / (given.value * given.unit.size);
    return claimed.unit.kind === given.unit.kind && Math.abs(ratio - 1) < 0.03;
  }
  const [, zeros = '', decimals = ''] = /(0*)(?:\.(\d+))?$/.exec(String(claimed.value)) ?? [];
  const step = decimals === '' ? 10 ** zeros.length : 10 ** -decimals.length;
  const difference = Math.abs(given.value - claimed.value);
  return difference === 0 || (difference < step && difference <= claimed.value / 10);
}

/** Whether digits stand in a text in any other form, such as a name, a version or a decade. */
function containsDigits(source: string, value: number): boolean {
  return new RegExp(`(?<!\\d)0*${String(value).replace('.', '\\.')}(?!\\d)`).test(source.replaceAll(',', ''));
}

const CODE_SPAN = /`([^`]{1,300})`/g;
/** Parts of code that stand for something else: `<path>`, `{item_id}`, `"a text"`, `my_package`. */
const PLACEHOLDER = /<[^<>]*>|\{[^{}]*\}|"[^"]*"|'[^']*'|(?<![\p{L}\p{N}])(?:my|your)[\p{L}\p{N}_-]*/giu;

/** Code of a claim in backticks with a word of at least three letters that no source has. */
function findMissingCode(claim: string, source: string): string | undefined {
  const spans = Array.from(claim.matchAll(CODE_SPAN), ([, code = '']) => code.trim());
  if (spans.length === 0) return undefined;
  const known = joinWords(source);
  return spans.find((code) => {
    const words = code.replace(PLACEHOLDER, ' ').match(/[\p{L}_][\p{L}\p{N}_]{2,}/gu) ?? [];
    return words.some((word) => !known.includes(joinWords(word)));
  });
}

/** A text in lower case without the signs that join words, so that "camelCase" is in "camel case". */
function joinWords(text: string): string {
  return text.toLowerCase().replace(/[\s_-]+/g, '');
}

function removeCode(text: string): string {
  return text.replace(CODE_SPAN, ' ` ').replace(/[*#|]+/g, ' ');
}

const QUOTED = /“([^“”]{1,2000})”|"([^"]{1,2000})"|«([^«»]{1,2000})»/g;
const SHORTEST_QUOTE = 4;

/** A quote of a claim, of at least four words, with at least half of its content words in no source. */
function findMissingQuote(claim: string, terms: ReadonlySet<string>): string | undefined {
  const quotes = Array.from(removeCode(claim).matchAll(QUOTED), ([whole]) => whole.slice(1, -1));
  return quotes.find((quote) => {
    const words = contentWordsOf(quote);
    const missing = words.filter(({ term }) => !terms.has(term)).length;
    return quote.trim().split(/\s+/).length >= SHORTEST_QUOTE && missing > 0 && missing >= words.length / 2;
  });
}

interface NameFact {
  name: string;
  /** Its offset in the claim. */
  start: number;
  /** The name with the capitalized words around it, such as a first name. */
  phrase: string;
}

const NAME = /(?<![\p{L}\p{N}])\p{Lu}[\p{L}\p{M}]{2,}(?!\p{N})/gu;
const CAPITALIZED = /\p{Lu}[\p{L}.'’-]*/u.source;
const TITLE_BEFORE = new RegExp(`(?:${CAPITALIZED}\\s)+$`, 'u');
const TITLE_AFTER = new RegExp(`^(?:\\s${CAPITALIZED})+`, 'u');
/** Before a word that starts a sentence, also with an article ("The Act"), and in parentheses. */
const BEFORE_NO_NAME = /(?:^|[.:!?]["'”’)*_]*\s)\W*(?:(?:The|A|An|This|That)\s\W*)?$|\([^()]*$|["'“‘]$/u;

/** Capitalized words of at least three letters that are neither abbreviations nor the start of a sentence. */
export function findClaimedNames(claim: string): NameFact[] {
  const prose = claim.replace(CODE_SPAN, (code) => '`'.repeat(code.length));
  const words = prose.match(/\S*[\p{L}\p{N}]\S*/gu) ?? [];
  const capitals = words.filter((word) => /^\P{L}*\p{Lu}/u.test(word)).length;
  // In title case, capitals do not mark names.
  if (words.length > 4 && capitals / words.length > 0.7) return [];
  return Array.from(prose.matchAll(NAME)).flatMap(({ 0: name, index: start }) => {
    const before = prose.slice(0, start);
    const isAbbreviation = name.length < 6 && /\p{Lu}.*\p{Lu}/u.test(name);
    if (isAbbreviation || BEFORE_NO_NAME.test(before) || STOP_WORDS.has(name.toLowerCase())) return [];
    const after = prose.slice(start + name.length);
    const phrase = `${TITLE_BEFORE.exec(before)?.[0] ?? ''}${name}${TITLE_AFTER.exec(after)?.[0] ?? ''}`;
    return [{ name, start, phrase }];
  });
}

import { findContentWords } from '../text/content-words.ts';
import { STOP_WORDS } from '../text/terms.ts';

/** A number as written, with its canonical value and its unit. */
interface NumberFact {
  written: string;
  /** Without separators, trailing zeros and words such as million. */
  value: string;
  unit: string | null;
  /** Part of a name or of a year, as in "Part 2" and "2018-19". */
  isNamed: boolean;
}

const CODE_SPAN = /`([^`]{1,300})`/g;
/** Digits after a letter belong to a name, and those with several dots to a version. */
const NUMBER =
  /(?<![\p{L}\p{N}_.,:/]|\p{L}-)\d+(?:[,\u00a0\u202f']\d{3})*(?:\.\d+)?(?![\d_:/]|[.,]\d)(?:(?:[\s\u00a0-])?(%|°|[A-Za-zµ]+))?/gu;
const LIST_NUMBER = /^\s*(?:[-*+•]\s*)?\d{1,3}[.)](?=\s|$)/gm;
/** As in "Part 2" and "No. 3". */
const AFTER_NAME = /(?:\p{Lu}[\p{L}\p{N}.]*|#)\s?$/u;
const SPELLED_NUMBERS = new Map(
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty'
    .split(' ')
    .map((word, value): [string, string] => [word, String(value)]),
);
for (const [index, word] of 'thirty forty fifty sixty seventy eighty ninety hundred'.split(' ').entries())
  SPELLED_NUMBERS.set(word, String(30 + index * 10));
const SPELLED = new RegExp(`\\b(?:${[...SPELLED_NUMBERS.keys()].join('|')})\\b`, 'gi');

/** Units with their aliases; the first name of each stands for all of them. */
const UNITS = new Map(
  `% percent pct; ms millisecond milliseconds; µs microsecond microseconds; s sec second seconds; min minute minutes;
  h hour hours hr hrs; day days; week weeks; month months; year years; decade decades; century centuries; hz; khz; mhz;
  ghz; kb kilobyte kilobytes; mb megabyte megabytes; gb gigabyte gigabytes; tb terabyte terabytes; mm millimeter
  millimeters millimetres; cm centimeter centimeters centimetres; meter meters metre metres; km kilometer kilometers
  kilometres; inch inches; foot feet ft; yard yards; mile miles; acre acres; hectare hectares; gram grams; kg kilogram
  kilograms; ounce ounces oz; pound pounds lb lbs; ton tons; point points; dollar dollars; euro euros`
    .split(/;\s+/)
    .flatMap((names) => {
      const aliases = names.split(/\s+/);
      return aliases.map((name): [string, string] => [name, aliases[0] ?? name]);
    }),
);

const SCALES = new Map([
  ...['k', 'thousand'].map((name): [string, number] => [name, 1e3]),
  ...['m', 'mn', 'million'].map((name): [string, number] => [name, 1e6]),
  ...['b', 'bn', 'billion'].map((name): [string, number] => [name, 1e9]),
  ['trillion', 1e12],
]);

/** The numbers in digits of a text, outside of code. */
export function findDigits(text: string): NumberFact[] {
  const prose = removeCode(text).replace(LIST_NUMBER, '');
  return Array.from(prose.matchAll(NUMBER), ({ 0: whole, 1: suffix = '', index }) => {
    const written = /^[\d.,\u00a0\u202f']*\d/.exec(whole)?.[0] ?? whole;
    const before = prose.slice(Math.max(0, index - 20), index);
    const isNamed = (written.length === 1 && AFTER_NAME.test(before)) || /\d{4}[-–]$/.test(before);
    const scale = SCALES.get(suffix.toLowerCase()) ?? 1;
    const value = scale === 1 ? toCanonical(written) : String(Number(toCanonical(written)) * scale);
    return { written: whole, value, unit: UNITS.get(suffix.toLowerCase()) ?? null, isNamed };
  });
}

/** Number words from "four" on: "two" and "three" are often said of what a source lists. */
function findSpelledNumbers(text: string, least = 4): NumberFact[] {
  return Array.from(removeCode(text).matchAll(SPELLED), ([written]) => {
    const value = SPELLED_NUMBERS.get(written.toLowerCase()) ?? '';
    return { written, value, unit: null, isNamed: false };
  }).filter(({ value }) => Number(value) >= least);
}

/** The numbers of a claim that no source has with this unit. A rounded number is there if some number rounds to it. */
export function findMissingNumbers(claim: string, source: string): string[] {
  const given = [...findDigits(source.replace(/`/g, ' ')), ...findSpelledNumbers(source, 0)];
  return [...findDigits(claim), ...findSpelledNumbers(claim)].flatMap(({ written, value, unit, isNamed }) => {
    const isGiven = given.some(
      (one) =>
        (one.value === value || roundsTo(one.value, value)) &&
        (unit === null || one.unit === null || one.unit === unit),
    );
    const isElsewhere = !given.some((one) => one.value === value) && containsDigits(source, value);
    return isGiven || isElsewhere || isNamed ? [] : [written];
  });
}

/** Whether digits stand in a text in any other form, such as a name, a version or a decade. */
function containsDigits(source: string, value: string): boolean {
  return new RegExp(`(?<!\\d)${value.replace('.', '\\.')}(?!\\d)`).test(source.replaceAll(',', ''));
}

/** Whether a number ends in zeros and rounds another one: "over 1,800" for 1,834. */
function roundsTo(precise: string, rounded: string): boolean {
  const zeros = /0*$/.exec(rounded)?.[0].length ?? 0;
  const difference = Math.abs(Number(precise) - Number(rounded));
  return difference < 10 ** zeros && difference <= Number(rounded) / 10;
}

function toCanonical(written: string): string {
  return written
    .replace(/[,\u00a0\u202f']/g, '')
    .replace(/^0+(?=\d)/, '')
    .replace(/(\.\d*?)0+$/, '$1')
    .replace(/\.$/, '');
}

const IDENTIFIERS = [
  /(?<![\w-])--[a-z][\w-]*/gi,
  /(?<![\p{L}\p{N}_/])_?[\p{L}\p{N}]+(?:_[\p{L}\p{N}]+)+/gu,
  /(?<![\w./@-])[A-Za-z_]\w+(?:\.[A-Za-z_]\w+)*\(\)/g,
  /(?<![\p{L}\p{N}_])\p{Ll}+\p{Lu}[\p{L}\p{N}]*/gu,
];

/** The code of a claim with a word that no source has: code in backticks, snake_case, camelCase, calls and flags. */
export function findMissingCode(claim: string, source: string): string[] {
  const found = new Set(Array.from(claim.matchAll(CODE_SPAN), ([, code = '']) => code.trim()));
  const prose = removeCode(claim);
  for (const pattern of IDENTIFIERS) for (const [name] of prose.matchAll(pattern)) found.add(name);
  const lower = source.toLowerCase();
  return [...found].filter((code) => {
    const words = code.toLowerCase().match(/[\p{L}_][\p{L}\p{N}_]{2,}/gu) ?? [];
    return words.some((word) => !lower.includes(word) && !lower.includes(word.replace(/s$/, '')));
  });
}

const QUOTED = /“([^“”]{1,2000})”|"([^"]{1,2000})"|«([^«»]{1,2000})»/g;
const SHORTEST_QUOTE = 4;

/** The quotes of a claim, of at least four words, with at least half of their content words in no source. */
export function findMissingQuotes(claim: string, terms: ReadonlySet<string>): string[] {
  const quotes = Array.from(removeCode(claim).matchAll(QUOTED), ([whole]) => whole.slice(1, -1));
  return quotes.filter((quote) => {
    const words = findContentWords(quote);
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

const TITLE_BEFORE = /(?:\p{Lu}[\p{L}.'’-]*\s)+$/u;
const TITLE_AFTER = /^(?:\s\p{Lu}[\p{L}.'’-]*)+/u;

/** Capitalized words of at least three letters that do not start a sentence. */
export function findClaimedNames(claim: string): NameFact[] {
  const prose = claim.replace(CODE_SPAN, (code) => ' '.repeat(code.length));
  const words = [...prose.matchAll(/\S*[\p{L}\p{N}]\S*/gu)];
  const capitals = words.filter(([word]) => /^\P{L}*\p{Lu}/u.test(word)).length;
  // In title case, capitals do not mark names.
  if (words.length > 4 && capitals / words.length > 0.7) return [];
  return words.flatMap(({ 0: word, index }, at) => {
    const before = words[at - 1]?.[0] ?? '.';
    if (/[.:!?]["'”’)*_]*$/.test(before) || /^["'“‘(]/.test(word)) return [];
    return Array.from(word.matchAll(/(?<![\p{L}\p{N}])\p{Lu}[\p{L}\p{M}]{2,}(?![\p{N}])/gu), (match) => ({
      name: match[0],
      start: index + match.index,
      phrase: `${TITLE_BEFORE.exec(prose.slice(0, index))?.[0] ?? ''}${word}${TITLE_AFTER.exec(prose.slice(index + word.length))?.[0] ?? ''}`,
    })).filter(({ name }) => !STOP_WORDS.has(name.toLowerCase()));
  });
}

const NEGATION =
  /\b(?:not(?! only\b| just\b| merely\b| necessarily\b)|cannot|never|no|none|neither|nor|nothing|nobody|without|hardly|\p{L}+n['’]t)\b/giu;

/** Whether a text denies something. */
export function isNegated(text: string): boolean {
  return text.search(NEGATION) >= 0;
}

function removeCode(text: string): string {
  return text.replace(CODE_SPAN, ' ` ').replace(/[*#|]+/g, ' ');
}

import { STOP_WORDS } from '../../text/terms.ts';
import { stripMarkdown } from './split-words.ts';

const CODE_SPAN = /`([^`]{1,300})`/g;
const QUOTED = /“([^“”]{1,2000})”|"([^"]{1,2000})"|«([^«»]{1,2000})»/g;
const OMISSION = /\[?(?:…|\.{3,})\]?/;
const SHORTEST_QUOTE = 3;
/** Text before a string literal, as in print("…"), f"…" or name = "…", which is not a quote. */
const BEFORE_LITERAL = /(?:[\p{L}\p{N}_][([]?|=\s?)$/u;

/** Quotes of at least three words, split at ellipses. Quotation marks in code do not count. */
export function findQuotes(sentence: string): string[] {
  const passages: string[] = [];
  const withoutCode = sentence.replace(CODE_SPAN, (code) => 'x'.repeat(code.length));
  for (const { 0: quoted, index } of withoutCode.matchAll(QUOTED)) {
    if (quoted.startsWith('"') && BEFORE_LITERAL.test(sentence.slice(Math.max(0, index - 3), index)))
      continue;
    const quote = sentence.slice(index + 1, index + quoted.length - 1);
    if (quote.trim().split(/\s+/).length < SHORTEST_QUOTE) continue;
    passages.push(...quote.split(OMISSION).filter((part) => part.trim() !== ''));
  }
  return passages;
}

const IDENTIFIERS = [
  /(?<![\w-])--[a-z][\w-]*/gi,
  /(?<![\p{L}\p{N}_/])_?[\p{L}\p{N}]+(?:_[\p{L}\p{N}]+)+/gu,
  /(?<![\w./@-])[A-Za-z_]\w+(?:\.[A-Za-z_]\w+)+/g,
  /(?<![\w:])\w+(?:::\w+)+/g,
  /(?<![\p{L}\p{N}_.:/<])\/[a-z_][\w/.-]{0,200}\w/giu,
  /(?<![\w.])v?\d+(?:\.\d+){2,}(?:-[\w.]+)?/gi,
  /(?<![\w.])v\d+(?:\.\d+)*/gi,
  /(?<![\p{L}\p{N}_])\p{Ll}+\p{Lu}[\p{L}\p{N}]*/gu,
  /(?<![\p{L}\p{N}_])\p{Lu}[\p{Ll}\p{N}]+\p{Lu}[\p{L}\p{N}]*/gu,
];

/** Code in backticks, snake_case, dotted.names, camelCase, --flags, /paths and versions. */
export function findIdentifiers(sentence: string): string[] {
  const found = new Set<string>();
  for (const [, code = ''] of sentence.matchAll(CODE_SPAN)) {
    const name = code.trim().replace(/\(\)$/, '');
    if (/[\p{L}\p{N}]/u.test(name)) found.add(name);
  }
  const prose = removeCodeSpans(sentence);
  for (const pattern of IDENTIFIERS) for (const [name] of prose.matchAll(pattern)) found.add(name);
  return [...found];
}

/** Capitalized words that do not start a sentence. */
export function findNames(sentence: string): string[] {
  const words = removeCodeSpans(sentence)
    .split(/\s+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word));
  const capitals = words.filter((word) => /^\P{L}*\p{Lu}/u.test(word)).length;
  // In title case, capitals do not mark names.
  if (words.length > 4 && capitals / words.length > 0.7) return [];
  const names = new Set<string>();
  words.forEach((word, index) => {
    if (index === 0 || /[.:!?]["'”’)]*$/.test(words[index - 1] ?? '') || /^["'“‘(]/.test(word)) return;
    for (const part of word.split(/[-–—/]/)) {
      const name = /\p{Lu}[\p{L}\p{N}\p{M}'’]*/u.exec(part)?.[0].replace(/['’]s?$/u, '');
      if (name === undefined || !/^\P{L}*\p{Lu}/u.test(part)) continue;
      if (name !== 'I' && !STOP_WORDS.has(name.toLowerCase())) names.add(name);
    }
  });
  return [...names];
}

export interface NumberFact {
  /** Canonical: no separators, no trailing zeros. */
  value: string;
  unit: string | null;
  /** Written as a word, such as "three". */
  spelled: boolean;
  /** The offset of its digits in the prose. */
  start: number;
}

const NUMBER =
  /(?<![\p{L}\p{N}_.])([-−+]?(?:\d{1,3}(?:[,\u00a0\u202f']\d{3})+(?!\d)|\d+)(?:\.\d+)?)(?!\.?\d)(?:[\s\u00a0-]?(%|°C|°|µs|[A-Za-z]+))?/gu;
const SPELLED = 'zero one two three four five six seven eight nine ten eleven twelve'.split(' ');
const SPELLED_WORD = new RegExp(
  `(?<![\\p{L}\\p{N}-])(${SPELLED.join('|')})(?![\\p{L}\\p{N}])(?:[\\s-]([A-Za-z]+))?`,
  'giu',
);

/** Units with their aliases; the first name of each stands for all of them. */
const UNITS = new Map(
  `% percent pct; ms millisecond milliseconds msec; µs us microsecond microseconds; ns nanosecond nanoseconds; s
  sec secs second seconds; min mins minute minutes; h hr hrs hour hours; day days; week weeks; decade decades;
  century centuries; month months; year years; hz hertz; khz kilohertz; mhz megahertz; ghz gigahertz; kb kilobyte
  kilobytes kib; mb megabyte megabytes mib; gb gigabyte gigabytes gib; tb terabyte terabytes tib; mm millimetre
  millimetres millimeter millimeters; cm centimetre centimetres centimeter centimeters; m metre metres meter
  meters; km kilometre kilometres kilometer kilometers; inch inches; foot feet ft; yard yards; mile miles; acre
  acres; hectare hectares; litre litres liter liters; gallon gallons; g gram grams; kg kilogram kilograms; ounce
  ounces oz; pound pounds lb lbs; ton tons tonne tonnes; v volt volts; w watt watts; kw kilowatt kilowatts; °
  degree degrees deg; rad radian radians; fps; px pixel pixels; thousand; million; billion; trillion; point
  points; dollar dollars; euro euros`
    .split(/;\s+/)
    .flatMap((names) => {
      const aliases = names.split(/\s+/);
      return aliases.map((name): [string, string] => [name, aliases[0] ?? name]);
    }),
);

export function isNumberWord(word: string): boolean {
  return /^[-−+]?[\d.,]+%?$/.test(word) || SPELLED.includes(word.toLowerCase());
}

export function isUnitWord(word: string): boolean {
  return UNITS.has(word.toLowerCase());
}

/** "US" is a country, not microseconds. */
function unitOf(word: string): string | undefined {
  return word === 'US' ? undefined : UNITS.get(word.toLowerCase());
}

/** The numbers of a prose text with their units. Versions such as 1.2.3 are identifiers instead. */
export function findNumbers(prose: string): NumberFact[] {
  const numbers: NumberFact[] = [];
  for (const match of prose.matchAll(NUMBER)) {
    const [whole, digits = '', suffix] = match;
    const isAttached = suffix !== undefined && whole.length === digits.length + suffix.length;
    const unit = suffix === undefined ? null : (unitOf(suffix) ?? (isAttached ? suffix.toLowerCase() : null));
    numbers.push({ value: canonical(digits), unit, spelled: false, start: match.index });
  }
  for (const match of prose.matchAll(SPELLED_WORD)) {
    const [, word = '', next = ''] = match;
    const unit = unitOf(next) ?? null;
    const value = String(SPELLED.indexOf(word.toLowerCase()));
    numbers.push({ value, unit, spelled: true, start: match.index });
  }
  return numbers;
}

/** The numbers of a sentence, without "one", which is usually an article or a pronoun. */
export function findClaimedNumbers(sentence: string): NumberFact[] {
  return findNumbers(removeCodeSpans(sentence)).filter(
    ({ spelled, value, unit }) => !(spelled && value === '1' && unit === null),
  );
}

/** Replaces inline code by a gap, and removes Markdown. */
export function removeCodeSpans(sentence: string): string {
  return stripMarkdown(sentence.replace(CODE_SPAN, ' ` '));
}

function canonical(digits: string): string {
  return digits
    .replace(/[,\u00a0\u202f']/g, '')
    .replace(/^\+/, '')
    .replace('−', '-')
    .replace(/^(-?)0+(?=\d)/, '$1')
    .replace(/(\.\d*?)0+$/, '$1')
    .replace(/\.$/, '');
}

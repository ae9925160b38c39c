import { STOP_WORDS } from '../../text/terms.ts';
import { withoutMarkup } from './words.ts';

const CODE_SPAN = /`([^`]{1,300})`/g;
const QUOTED = /“([^“”]{1,2000})”|"([^"]{1,2000})"|«([^«»]{1,2000})»/g;
const OMISSION = /\[?(?:…|\.{3,})\]?/;
const SHORTEST_QUOTE = 3;
/** What stands before the quotation mark of a text in code, as in print("…"), f"…" or name = "…", and never before a quote. */
const BEFORE_LITERAL = /(?:[\p{L}\p{N}_][([]?|=\s?)$/u;

/**
 * Passages in quotation marks of three words or more. What an ellipsis separates must appear on its own. Quotation marks
 * inside code are code.
 */
export function quotesIn(sentence: string): string[] {
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

/** Names of code: what stands in backticks, snake_case, dotted.names, camelCase, --flags, /paths, versions. */
export function identifiersIn(sentence: string): string[] {
  const found = new Set<string>();
  for (const [, code = ''] of sentence.matchAll(CODE_SPAN)) {
    const name = code.trim().replace(/\(\)$/, '');
    if (/[\p{L}\p{N}]/u.test(name)) found.add(name);
  }
  const prose = proseOf(sentence);
  for (const pattern of IDENTIFIERS) for (const [name] of prose.matchAll(pattern)) found.add(name);
  return [...found];
}

/** Words with a capital that do not open the sentence or something like one. */
export function namesIn(sentence: string): string[] {
  const words = proseOf(sentence)
    .split(/\s+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word));
  const capitals = words.filter((word) => /^\P{L}*\p{Lu}/u.test(word)).length;
  // In Title Case, capitals say nothing.
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
  /** It was written as a word, such as "three". */
  spelled: boolean;
  /** The offset of its digits in the prose. */
  start: number;
}

const NUMBER =
  /(?<![\p{L}\p{N}_.])([-−+]?(?:\d{1,3}(?:[,\u00a0\u202f']\d{3})+(?!\d)|\d+)(?:\.\d+)?)(?!\.?\d)(?:[\s\u00a0-]?(%|°C|°|µs|[A-Za-z]+))?/gu;
const SPELLED = ['zero', 'one', 'two', 'three', 'four', 'five', 'six'].concat([
  'seven',
  'eight',
  'nine',
  'ten',
  'eleven',
  'twelve',
]);
const SPELLED_WORD = new RegExp(
  `(?<![\\p{L}\\p{N}-])(${SPELLED.join('|')})(?![\\p{L}\\p{N}])(?:[\\s-]([A-Za-z]+))?`,
  'giu',
);

const UNITS = new Map(
  Object.entries({
    '%': '% percent pct',
    ms: 'ms millisecond milliseconds msec',
    µs: 'µs us microsecond microseconds',
    ns: 'ns nanosecond nanoseconds',
    s: 's sec secs second seconds',
    min: 'min mins minute minutes',
    h: 'h hr hrs hour hours',
    d: 'day days',
    week: 'week weeks',
    decade: 'decade decades',
    century: 'century centuries',
    month: 'month months',
    year: 'year years',
    hz: 'hz hertz',
    khz: 'khz kilohertz',
    mhz: 'mhz megahertz',
    ghz: 'ghz gigahertz',
    kb: 'kb kilobyte kilobytes kib',
    mb: 'mb megabyte megabytes mib',
    gb: 'gb gigabyte gigabytes gib',
    tb: 'tb terabyte terabytes tib',
    mm: 'mm millimetre millimetres millimeter millimeters',
    cm: 'cm centimetre centimetres centimeter centimeters',
    m: 'm metre metres meter meters',
    km: 'km kilometre kilometres kilometer kilometers',
    inch: 'inch inches',
    foot: 'foot feet ft',
    yard: 'yard yards',
    mile: 'mile miles',
    acre: 'acre acres',
    hectare: 'hectare hectares',
    l: 'litre litres liter liters',
    gallon: 'gallon gallons',
    g: 'g gram grams',
    kg: 'kg kilogram kilograms',
    ounce: 'ounce ounces oz',
    pound: 'pound pounds lb lbs',
    ton: 'ton tons tonne tonnes',
    v: 'v volt volts',
    w: 'w watt watts',
    kw: 'kw kilowatt kilowatts',
    '°': '° degree degrees deg',
    rad: 'rad radian radians',
    fps: 'fps',
    px: 'px pixel pixels',
    thousand: 'thousand',
    million: 'million',
    billion: 'billion',
    trillion: 'trillion',
    point: 'point points',
    dollar: 'dollar dollars',
    euro: 'euro euros',
  }).flatMap(([unit, names]) => names.split(' ').map((name): [string, string] => [name, unit])),
);

export function isNumber(word: string): boolean {
  return /^[-−+]?[\d.,]+%?$/.test(word) || SPELLED.includes(word.toLowerCase());
}

export function isUnit(word: string): boolean {
  return UNITS.has(word.toLowerCase());
}

/** The five US airlines are no microseconds. */
function unitOf(word: string): string | undefined {
  return word === 'US' ? undefined : UNITS.get(word.toLowerCase());
}

/** The numbers of a prose text with their units. Versions such as 1.2.3 are identifiers instead. */
export function numbersIn(prose: string): NumberFact[] {
  const numbers: NumberFact[] = [];
  for (const match of prose.matchAll(NUMBER)) {
    const [whole, digits = '', suffix] = match;
    const glued = suffix !== undefined && whole.length === digits.length + suffix.length;
    const unit = suffix === undefined ? null : (unitOf(suffix) ?? (glued ? suffix.toLowerCase() : null));
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

/** The numbers that a sentence claims. "One" is rather an article or a pronoun. */
export function claimedNumbersIn(sentence: string): NumberFact[] {
  return numbersIn(proseOf(sentence)).filter(
    ({ spelled, value, unit }) => !(spelled && value === '1' && unit === null),
  );
}

/** A sentence with a gap for every piece of code. */
export function proseOf(sentence: string): string {
  return withoutMarkup(sentence.replace(CODE_SPAN, ' ` '));
}

function canonical(digits: string): string {
  const plain = digits
    .replace(/[,\u00a0\u202f']/g, '')
    .replace(/^\+/, '')
    .replace('−', '-');
  const [whole = '', fraction = ''] = plain.split('.');
  const kept = fraction.replace(/0+$/, '');
  const trimmed = whole.replace(/^(-?)0+(?=\d)/, '$1');
  return kept === '' ? trimmed : `${trimmed}.${kept}`;
}

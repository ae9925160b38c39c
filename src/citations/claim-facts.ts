import { findContentWords } from '../text/content-words.ts';
import { STOP_WORDS } from '../text/terms.ts';

/** A number with its unit. */
interface NumberFact {
  written: string;
  value: number;
  unit: string | null;
  /** Part of a name, as in "Part 2" and "2018-19". */
  isNamed: boolean;
}

const CODE_SPAN = /`([^`]{1,300})`/g;
/** Digits after a letter belong to a name, and those with several dots to a version. */
const NUMBER =
  /(?<![\p{L}\p{N}_.,:/]|\p{L}-)\d+(?:[,\u00a0\u202f'_]\d{3})*(?:\.\d+)?(?![\d_:/]|[.,]\d)(?:[\s\u00a0-]?(%|°|[A-Za-zµ]+))?/gu;
const LIST_NUMBER = /^\s*(?:[-*+•]\s*)?\d{1,3}[.)](?=\s|$)/gm;
/** What stands before a number that names something. */
const BEFORE_LABEL =
  /(?:\b(?:section|chapter|part|figure|fig\.|table|step|page|line|option|example|appendix|note|item|passage|source|no\.)\s|#|\d{4}[-–])$/i;
const BEFORE_DIGIT_LABEL = /\p{Lu}[\p{L}\p{N}.]*\s$/u;

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
const SCALES = new Map<string, number>(
  Object.entries({
    ...{ hundred: 100, dozen: 12, k: 1e3, thousand: 1e3, m: 1e6, mn: 1e6, million: 1e6 },
    ...{ b: 1e9, bn: 1e9, billion: 1e9, trillion: 1e12 },
  }),
);
const SPELLED_WORD = `(?:${[...SMALL_NUMBERS.keys(), ...SCALES.keys()].filter((name) => name.length > 2).join('|')})`;
const SPELLED = new RegExp(
  `(?<!\\d[\\s-]?)\\b${SPELLED_WORD}(?:[\\s-](?:and\\s)?${SPELLED_WORD})*\\b(?=(?:[\\s-]([A-Za-z]+))?)`,
  'gi',
);

/** Units with their size in the first unit of their kind and their other names. */
const UNITS = new Map(
  `% 1 percent pct; time 1 times; degree 1 degrees °; point 1 points; dollar 1 dollars usd; euro 1 euros eur
  s 1 sec secs second seconds; ms 1e-3 millisecond milliseconds; µs 1e-6 microsecond microseconds; min 60 mins minute minutes; h 3600 hr hrs hour hours; day 86400 days; week 604800 weeks; month 2629800 months; year 31557600 years; decade 315576000 decades; century 3155760000 centuries
  byte 1 bytes; kb 1e3 kib kilobyte kilobytes; mb 1e6 mib megabyte megabytes; gb 1e9 gib gigabyte gigabytes; tb 1e12 tib terabyte terabytes
  hz 1 hertz; khz 1e3; mhz 1e6; ghz 1e9
  m 1 meter meters metre metres; mm 1e-3 millimeter millimeters millimetres; cm 1e-2 centimeter centimeters centimetres; km 1e3 kilometer kilometers kilometres; inch 0.0254 inches; foot 0.3048 feet ft; yard 0.9144 yards; mile 1609.344 miles
  acre 1 acres; hectare 2.47105 hectares
  g 1 gram grams; kg 1e3 kilogram kilograms; ounce 28.35 ounces oz; pound 453.6 pounds lb lbs; ton 1e6 tons`
    .split('\n')
    .flatMap((line, kind) =>
      line.split(';').flatMap((entry) => {
        const [name = '', size, ...aliases] = entry.trim().split(' ');
        // The units of the first line measure different things.
        const unit = { kind: kind === 0 ? name : String(kind), size: Number(size) };
        return [name, ...aliases].map((alias): [string, typeof unit] => [alias, unit]);
      }),
    ),
);

/** The numbers in digits of a text, outside of code. Some have two meanings: "5 m" are meters or millions. */
export function findDigits(text: string): NumberFact[] {
  const prose = removeCode(text)
    .replace(LIST_NUMBER, '')
    .replace(/per cent\b/gi, 'percent')
    .replace(/(?<=(?<![\d.,])\d{1,3}) (?=\d{3}(?!\d))/g, '');
  return Array.from(prose.matchAll(NUMBER)).flatMap(({ 0: whole, 1: suffix = '', index }) => {
    const digits = /^[\d.,\u00a0\u202f'_]*\d/.exec(whole)?.[0] ?? whole;
    const before = prose.slice(Math.max(0, index - 20), index);
    const isNamed = BEFORE_LABEL.test(before) || (digits.length === 1 && BEFORE_DIGIT_LABEL.test(before));
    const name = suffix.toLowerCase();
    const scale = SCALES.get(name);
    const unit = UNITS.has(name) ? name : null;
    const value = Number(digits.replace(/[,\u00a0\u202f'_]/g, ''));
    const written = scale === undefined && unit === null ? digits : whole;
    const plain = { written, value, unit, isNamed };
    if (scale === undefined) return [plain];
    const scaled = { ...plain, value: value * scale, unit: null };
    return unit === null ? [scaled] : [plain, scaled];
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
    return value + part >= least || UNITS.has(suffix.toLowerCase()) ? String(value + part) : whole;
  });
}

/** Smaller numbers in words are often the count of what a source lists. */
const LEAST_SPELLED = 13;

/** The numbers of a claim that no source has with this unit, or in another unit, or more precisely. */
export function findMissingNumbers(claim: string, source: string): string[] {
  const given = findDigits(spelledToDigits(source.replace(/`/g, ' '), 0));
  const isGiven = (fact: NumberFact) =>
    given.some((one) => isSameQuantity(fact, one)) ||
    (!given.some(({ value }) => value === fact.value) && containsDigits(source, fact.value));
  const claimed = findDigits(spelledToDigits(claim, LEAST_SPELLED)).filter(({ isNamed }) => !isNamed);
  const byText = Object.entries(Object.groupBy(claimed, ({ written }) => written));
  return byText.filter(([, meanings = []]) => !meanings.some(isGiven)).map(([written]) => written);
}

/** Whether a claimed number is a given one, in any unit, or a rounded form of it: "over 1,800" for 1,834. */
function isSameQuantity(claimed: NumberFact, given: NumberFact): boolean {
  const own = UNITS.get(claimed.unit ?? '');
  const other = UNITS.get(given.unit ?? '');
  if (own !== undefined && other !== undefined) {
    if (own.kind !== other.kind) return false;
    // Kilobytes have 1,000 or 1,024 bytes.
    if (own !== other) return Math.abs((claimed.value * own.size) / (given.value * other.size) - 1) < 0.03;
  }
  // A setting in thousandths of the unit: `timeout: 30000` for 30 seconds.
  if (own !== undefined && other === undefined && given.value === claimed.value * 1000) return true;
  const [, zeros = '', decimals = ''] = /(0*)(?:\.(\d+))?$/.exec(String(claimed.value)) ?? [];
  const step = decimals === '' ? 10 ** zeros.length : 10 ** -decimals.length;
  const difference = Math.abs(given.value - claimed.value);
  return difference === 0 || (difference < step && difference <= claimed.value / 10);
}

/** Whether digits stand in a text in any other form, such as a name, a version or a decade. */
function containsDigits(source: string, value: number): boolean {
  return new RegExp(`(?<!\\d)0*${String(value).replace('.', '\\.')}(?!\\d)`).test(source.replaceAll(',', ''));
}

/** A flag, snake_case, a call or camelCase. */
const IDENTIFIER =
  /(?<![\w-])--[A-Za-z][\w-]*|(?<![\p{L}\p{N}_/])_?[\p{L}\p{N}]+(?:_[\p{L}\p{N}]+)+|(?<![\w./@-])[A-Za-z_]\w+(?:\.[A-Za-z_]\w+)*\(\)|(?<![\p{L}\p{N}_])\p{Ll}+\p{Lu}[\p{L}\p{N}]*/gu;
/** Parts of code that stand for something else: `<path>`, `{item_id}`, `"a text"`, `my_package`, `YOUR_KEY`. */
const PLACEHOLDER =
  /<[^<>]*>|\{[^{}]*\}|"[^"]*"|'[^']*'|(?<![\p{L}\p{N}])(?:my|your|example|foo|bar)(?![\p{Ll}])[\p{L}\p{N}_-]*/giu;

/** Words of commands and expressions that a writer adds without a source. */
const COMMON_CODE =
  /^(?:export|set|sudo|pip|np[mx]|install|run|python3?|bash|echo|import|from|const|let|var|await|async|return|print|true|false|none|null|example)$/i;

/** The code of a claim with a word that no source has: code in backticks, snake_case, camelCase, calls and flags. */
export function findMissingCode(claim: string, source: string): string[] {
  const spans = Array.from(claim.matchAll(CODE_SPAN), ([, code = '']) => code.trim());
  const known = joinWords(source);
  return [...spans, ...(removeCode(claim).match(IDENTIFIER) ?? [])].filter((code) => {
    const words = code.replace(PLACEHOLDER, ' ').match(/[\p{L}_][\p{L}\p{N}_]{2,}/gu) ?? [];
    return words.some(
      (word) => !COMMON_CODE.test(word) && !known.includes(joinWords(word).replace(/s$/, '')),
    );
  });
}

/** A text in lower case without the signs that join words, so that "camelCase" is in "camel case". */
function joinWords(text: string): string {
  return text.toLowerCase().replace(/[\s_-]+/g, '');
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
  return Array.from(prose.matchAll(/(?<![\p{L}\p{N}])\p{Lu}[\p{L}\p{M}]{2,}(?![\p{N}])/gu)).flatMap(
    ({ 0: name, index: start }) => {
      const before = prose.slice(0, start);
      const after = prose.slice(start + name.length);
      const isLabel = /^[\s-]\d/.test(after) || (name.length < 6 && /\p{Lu}.*\p{Lu}/u.test(name));
      if (isLabel || BEFORE_NO_NAME.test(before) || STOP_WORDS.has(name.toLowerCase())) return [];
      const phrase = `${TITLE_BEFORE.exec(before)?.[0] ?? ''}${name}${TITLE_AFTER.exec(after)?.[0] ?? ''}`;
      return [{ name, start, phrase }];
    },
  );
}

/** Whether a source abbreviates a name: "US" for "United States", "TS" for "TypeScript". */
export function isAbbreviated(phrase: string, source: string): boolean {
  const initials = phrase.replace(/^(?:The|A|An)\s|\P{Lu}/gu, '');
  return initials.length > 1 && new RegExp(`\\b${initials}\\b`).test(source);
}

/** An answer to a question, which denies nothing of the source. */
const SHORT_ANSWER =
  /^\W*(?:no(?=\s*[,.;:!–—])|not (?:really|quite|exactly|necessarily|directly|yet)|i(?:['’ ]m| am) not sure)\b[\s,.;:!–—-]/i;
const NEGATION =
  /\b(?:not(?! only\b| just\b| merely\b| necessarily\b)|cannot|never|no|none|neither|nor|nothing|nobody|without|hardly|\p{L}+n['’]t)\b/iu;
/** Words that say the same as a negation. */
const LIMITATION =
  /\b(?:only|unless|except|instead|rather|until|avoid|prevent|fail|lack|miss|refus|den[iy]|ignor|skip|exclud|stop|disabl|unable|impossib|forbid|prohibit|reject|rarely|unlikely)/gi;

/** Whether one of two texts denies what the other says: both have the same words otherwise. */
export function isOppositeOf(claim: string, source: string): boolean {
  const listLimitations = (text: string) => (text.toLowerCase().match(LIMITATION) ?? []).sort().join(' ');
  return isNegated(claim) !== isNegated(source) && listLimitations(claim) === listLimitations(source);
}

/** Whether a text denies something. */
export function isNegated(text: string): boolean {
  return NEGATION.test(text.replace(SHORT_ANSWER, ''));
}

function removeCode(text: string): string {
  return text.replace(CODE_SPAN, ' ` ').replace(/[*#|]+/g, ' ');
}

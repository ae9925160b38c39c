import type { UnitKind } from '../text/passage-units.ts';
import { indexTerms, queryTerms, STOP_WORDS } from '../text/terms.ts';

/** The kind of answer that a question asks for. */
export type QuestionKind =
  | 'number'
  | 'time'
  | 'person'
  | 'place'
  | 'reason'
  | 'command'
  | 'way'
  | 'yes or no'
  | 'other';

/** The first pattern that matches decides. */
const KINDS: [QuestionKind, RegExp][] = [
  [
    'number',
    /\bhow (?:many|much|long|old|far|often|big|tall|large|fast|deep|high|heavy)\b|\b(?:what|which) (?:percentage|number|age|size|port|version|default|limit)\b/,
  ],
  ['time', /\bwhen\b|\b(?:what|which) (?:year|date|day|time|month|century)\b/],
  ['person', /\bwho(?:se|m)?\b/],
  ['place', /\bwhere\b|\b(?:what|which) (?:country|city|state|place|town|continent)\b/],
  ['reason', /\bwhy\b|\bwhat (?:is the reason|causes?d?)\b/],
  [
    'command',
    /\b(?:command|flag|option|snippet|code|syntax|import)\b|\bhow (?:do|can|to|should|would) (?:i|you|we)?\b/,
  ],
  ['way', /\bhow\b/],
  ['yes or no', /^(?:is|are|was|were|do|does|did|can|could|will|would|should|has|have|had|may|must)\b/],
];

export function classifyQuestion(question: string): QuestionKind {
  const lower = question.trim().toLowerCase();
  return KINDS.find(([, pattern]) => pattern.test(lower))?.[0] ?? 'other';
}

const NUMBER =
  /\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|hundred|thousand|million|billion|half|once|twice|daily|weekly|monthly|yearly)\b/i;
const TIME =
  /\b(?:1\d{3}|20\d{2}|january|february|march|april|june|july|august|september|october|november|december|century|monday|tuesday|wednesday|thursday|friday|saturday|sunday|after|before|until|during|while|when)\b/i;
const REASON =
  /\b(?:because|due to|since|therefore|so that|in order to|caused?|causes|reasons?|results?|leads? to|owing to)\b/i;

/** Whether a unit contains the kind of answer that is asked for: 1, 0, or 0.5 if that cannot be seen. */
export function hasAnswerKind(
  asked: QuestionKind,
  unit: { kind: UnitKind; text: string /** Names that the question does not have. */; newNames: number },
): number {
  if (asked === 'number') return Number(NUMBER.test(unit.text));
  if (asked === 'time') return Number(TIME.test(unit.text));
  if (asked === 'person' || asked === 'place') return Number(unit.newNames > 0);
  if (asked === 'reason') return Number(REASON.test(unit.text));
  if (asked === 'command' && (unit.kind === 'code' || unit.kind === 'steps')) return 1;
  return 0.5;
}

/** The end of a sentence or of an introduction, which may end with a colon. */
const SENTENCE_END = /(?<=[.?!:])\s+/;
const WORD = /[\p{L}\p{N}][\p{L}\p{N}\p{M}_.:/@+'’-]*[\p{L}\p{N}]|[\p{L}\p{N}]/gu;
const MARKUP = /<[^>]*>|\[[^\]]*\]\([^)]*\)|https?:\/\/\S+/g;
const IDENTIFIER = /\p{L}_\p{L}|\p{Ll}\p{Lu}|::|\p{L}\.\p{L}{2}/u;
/** Numbers and host names, which are often specific to the user. */
const USER_SPECIFIC = /^[\d.,:/%-]+$|^(?:[\w-]+\.)+(?:com|org|net|dev|local|io\/.*)$/;
const NOT_A_NAME = /^(?:I|I['’]\w+|BTW|FYI|ASAP|IMO|FAQ|PLS|[A-Z]{1,2})$/;
/** With a larger share of capitalized words, capitals do not mark names. */
const MAX_CAPITAL_SHARE = 0.6;
/** Shorter names are too similar to each other to allow a typing error. */
const SHORTEST_FUZZY_NAME = 6;

/** The names and identifiers of a question that are not among the terms of the passages. */
export function findMissingNames(question: string, terms: ReadonlySet<string>): string[] {
  return findNames(askingPart(question)).filter((name) => !isMentioned(name, terms));
}

/** The sentences with a question mark, if they have content words, since the text before them may name anything. */
function askingPart(question: string): string {
  const asking = question
    .split(SENTENCE_END)
    .filter((sentence) => sentence.endsWith('?'))
    .join(' ');
  return queryTerms(asking).length > 1 ? asking : question;
}

/** Words written like a name, with a capital that does not start a sentence, or like an identifier. */
function findNames(question: string): string[] {
  const names: string[] = [];
  for (const sentence of question.replace(MARKUP, ' ').split(SENTENCE_END)) {
    const words = sentence.match(WORD) ?? [];
    const capitals = words.filter((word) => /^\p{Lu}/u.test(word)).length;
    const isTitleCase = words.length > 3 && capitals >= MAX_CAPITAL_SHARE * words.length;
    words.forEach((word, index) => {
      if (NOT_A_NAME.test(word) || STOP_WORDS.has(word.toLowerCase())) return;
      const isCapital = index > 0 && !isTitleCase && /^\p{Lu}/u.test(word);
      if ((isCapital || IDENTIFIER.test(word)) && !USER_SPECIFIC.test(word)) names.push(word);
    });
  }
  return names;
}

function isMentioned(name: string, terms: ReadonlySet<string>): boolean {
  const parts = indexTerms(name);
  const whole = parts.at(-1);
  if (whole === undefined || terms.has(whole)) return true;
  // "Actor-Critic" may be written "actor critic", but RealSense is not "real" and "sense".
  if (/[\s/-]/.test(name) && parts.slice(0, -1).every((part) => terms.has(part))) return true;
  return whole.length >= SHORTEST_FUZZY_NAME && [...terms].some((term) => isOneLetterApart(whole, term));
}

/** Whether two words differ by one inserted, missing or replaced letter. */
function isOneLetterApart(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1) return false;
  let start = 0;
  while (start < a.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  return Math.max(a.length, b.length) - start - end <= 1;
}

import { indexTerms, queryTerms, STOP_WORDS } from '../../text/terms.ts';
import type { Passage } from './read-request.ts';

/** Words that say which fact is asked for, not what about: by how much, and in what. */
const HOW_MUCH = queryTerms('many much old far tall big often long');
const ASKING_FACT = new Set([...HOW_MUCH, ...queryTerms('year date day month century city country')]);
/** Words that questions are made with; an answer need not have them. */
const ASKING = new Set([
  ...ASKING_FACT,
  ...queryTerms(
    'difference different compare happen mean meaning work use used way need help kind type example explain describe ' +
      'define best good better large soon make give take know learn understand purpose advantage reason cause important',
  ),
]);

/**
 * How alike to the question the nearest sentence must be, by cosine. Measured by `npm run bench:abstention`; see
 * decisions/0010.
 */
const LEAST_ALIKE = {
  /** One passage has every telling word of the question, and there are several. */
  covered: 0.3,
  open: 0.42,
  /** A fact whose words are not all there, or what documents seldom say. */
  strict: 0.75,
};

/** Where a part of a question ends. It is typed in haste: a colon sets a story apart, and a capital opens no sentence. */
const PART_END = /(?<=[.?!:])\s+/;

/** What was asked. */
export interface Question {
  /** As the person wrote it. */
  question: string;
  /** So that it stands on its own. */
  query: string;
}

/** Whether the passages answer the question and are not just near it. `meaning` is the nearest sentence's likeness. */
export function isAnswered(
  { question, query }: Question,
  passages: readonly Passage[],
  meaning: number,
): boolean {
  const said = passages.map(({ title, text }) => new Set([...indexTerms(title), ...indexTerms(text)]));
  const allSaid = new Set(said.flatMap((terms) => [...terms]));
  if (missingNames(whatIsAsked(question), allSaid).length > 0) return false;
  const newest = newestIn(question);
  if (newest !== null && !indexTerms(newest).every((term) => allSaid.has(term))) return false;
  const kind = questionKind(question);
  const asking = kind === 'fact' ? ASKING_FACT : ASKING;
  const terms = queryTerms(query);
  const telling = terms.filter((term) => !asking.has(term));
  // One word alone says too little: then what the fact is counted in must be there, too.
  const wanted = telling.length > 1 ? telling : terms.filter((term) => !HOW_MUCH.includes(term));
  const isCovered = wanted.length > 1 && said.some((passage) => wanted.every((term) => passage.has(term)));
  return meaning >= leastAlike(kind, isCovered);
}

function leastAlike(kind: QuestionKind, isCovered: boolean): number {
  if (kind === 'seldom') return LEAST_ALIKE.strict;
  if (isCovered) return LEAST_ALIKE.covered;
  return kind === 'fact' ? LEAST_ALIKE.strict : LEAST_ALIKE.open;
}

/** The sentences that ask, if they say about what; a story that comes before them may name anything. */
function whatIsAsked(question: string): string {
  const asking = question
    .split(PART_END)
    .filter((sentence) => sentence.endsWith('?'))
    .join(' ');
  const saysWhat = queryTerms(asking).some((term) => !ASKING.has(term) && !STOP_WORDS.has(term));
  return saysWhat ? asking : question;
}

/**
 * - `fact`: asks for a person, a time, a place or a number. It names the very relation it asks about, so an
 *   answer has its words.
 * - `seldom`: asks what documents seldom say: whether something is all there is, or the same as something else,
 *   what to think of it, whether hearsay is true, what is the case just now.
 * - `open`: everything else. It is often told at length and answered in other words.
 */
type QuestionKind = 'fact' | 'seldom' | 'open';

const OPENING = '^(?:(?:and|but|so|ok|okay|well|then|btw|by the way),? )?';
const FACT = new RegExp(
  `${OPENING}(?:who(?:m|se)?\\b|when (?:did|was|were|does|is|will)\\b|where (?:did|was|were|is|are)\\b|` +
    '(?:in |on |at |by |from )?(?:what|which) (?:year|date|day|month|century|city|country)\\b|' +
    'how (?:many|much|old|far|tall|big|often)\\b|how long (?:did|was|is|does)\\b|' +
    'what (?:do|does|did|will|would) .{1,80}\\bcost\\b|' +
    'what (?:is|are|was|were) the (?:price|cost|fee|salary|age|date|address) (?:of|for)\\b)',
  'i',
);
const SELDOM = [
  /\bthe only\b/i,
  /\b(?:any|or are there|are there any) others?\b|\banything else\b|\bany other\b/i,
  /\bthe same (?:as|thing)\b/i,
  new RegExp(
    `${OPENING}(?:is|are|was|were|do|does|would|should)n['’]t (?:that|this|it|those|these|they|you)\\b`,
    'i',
  ),
  /\b(?:do|would) you (?:think|believe|prefer|like)\b|\byour (?:opinion|favou?rite)\b/i,
  /\b(?:i|we)(?:['’]ve| have)? heard\b|\b(?:i was|we were) told\b/i,
  /\b(?:latest|newest|most recent|right now|today|nowadays|this (?:year|month|week))\b/i,
];
const NEWEST = /\b(?:latest|newest|most recent)\b/i;

/** What a question wants the newest of things to be called; documents that know which it is say so. */
function newestIn(question: string): string | null {
  return NEWEST.exec(question)?.[0] ?? null;
}

export function questionKind(question: string): QuestionKind {
  const text = question.trim();
  if (SELDOM.some((pattern) => pattern.test(text))) return 'seldom';
  return FACT.test(text) ? 'fact' : 'open';
}

const WORD = /[\p{L}\p{N}][\p{L}\p{N}\p{M}_.:/@+'’-]*[\p{L}\p{N}]|[\p{L}\p{N}]/gu;
/** Markup is not something that is asked about. */
const MARKUP = /<[^>]*>|\[[^\]]*\]\([^)]*\)|https?:\/\/\S+/g;
const IDENTIFIER = /\p{L}_\p{L}|\p{Ll}\p{Lu}|::|\p{L}\.\p{L}{2}/u;
const NUMBER = /\d{2}|\d\.\d/;
const NO_NAME = /^(?:I|I['’]\w+|OK|BTW|FYI|PS|ASAP|IMO|FAQ|PLS|[A-Z])$/;
/** A question in which most words are capitals has no names to be told by them. */
const SHARE_OF_CAPITALS = 0.6;
/** Shorter names are too like each other to forgive a letter. */
const FORGIVING_FROM = 6;

/**
 * The names, identifiers and numbers of a question that are in none of the terms. Passages that never mention
 * what a question names do not answer it, however near they are otherwise.
 */
export function missingNames(question: string, terms: ReadonlySet<string>): string[] {
  return namesIn(question).filter((name) => !isNamed(name, terms));
}

/** What is written like a name: with a capital that opens no sentence, like an identifier, or with a number. */
function namesIn(question: string): string[] {
  const names: string[] = [];
  for (const sentence of question.replace(MARKUP, ' ').split(PART_END)) {
    const words = sentence.match(WORD) ?? [];
    const capitals = words.filter((word) => /^\p{Lu}/u.test(word)).length;
    const shouts = words.length > 3 && capitals >= SHARE_OF_CAPITALS * words.length;
    words.forEach((word, index) => {
      if (NO_NAME.test(word) || STOP_WORDS.has(word.toLowerCase())) return;
      const isCapital = index > 0 && !shouts && /^\p{Lu}/u.test(word);
      if (isCapital || IDENTIFIER.test(word) || NUMBER.test(word)) names.push(word);
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

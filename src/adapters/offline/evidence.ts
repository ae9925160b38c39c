import { indexTerms, queryTerms } from '../../lexical/terms.ts';
import { missingNames } from './named-terms.ts';
import { type QuestionKind, questionKind } from './question-kind.ts';
import type { Passage } from './read-request.ts';

/** Words that say which fact is asked for, not what about. */
const ASKING_FACT = queryTerms(
  'many much old far tall big often long year date day month century city country',
);
/** Words that questions are made with; an answer need not have them. */
const ASKING = new Set([
  ...ASKING_FACT,
  ...queryTerms(
    'difference different compare happen mean meaning work use used way need help kind type example explain describe ' +
      'define best good better large soon make give take know learn understand purpose advantage reason cause important',
  ),
]);
const ASKING_WORDS: Record<QuestionKind, ReadonlySet<string>> = {
  open: ASKING,
  seldom: new Set(queryTerms('thing')),
  fact: new Set(ASKING_FACT),
};

/**
 * How alike to the question the nearest sentence must be, by cosine, if one passage has every telling word of
 * the question or not (for `seldom`, one sentence). Measured by `npm run bench:abstention`; see decisions/0010.
 */
const LEAST_ALIKE: Record<QuestionKind, { covered: number; uncovered: number }> = {
  open: { covered: 0.3, uncovered: 0.35 },
  fact: { covered: 0.3, uncovered: 0.65 },
  seldom: { covered: 0.5, uncovered: 0.75 },
};

export interface Asked {
  /** As the person wrote it. */
  question: string;
  /** So that it stands on its own. */
  query: string;
}

export interface Judged {
  terms: ReadonlySet<string>;
  /** How alike it is to the query by meaning. */
  meaning: number;
}

/** Whether the passages answer the question and are not just near it. */
export function isAnswered(
  { question, query }: Asked,
  passages: readonly Passage[],
  sentences: readonly Judged[],
): boolean {
  const said = passages.map(({ title, text }) => new Set([...indexTerms(title), ...indexTerms(text)]));
  const allSaid = new Set(said.flatMap((terms) => [...terms]));
  if (missingNames(whatIsAsked(query), allSaid).length > 0) return false;
  const kind = questionKind(question);
  const telling = queryTerms(query).filter((term) => !ASKING_WORDS[kind].has(term));
  const places = kind === 'seldom' ? sentences.map(({ terms }) => terms) : said;
  const isCovered = places.some((terms) => telling.every((term) => terms.has(term)));
  const meaning = Math.max(0, ...sentences.map((sentence) => sentence.meaning));
  return meaning >= LEAST_ALIKE[kind][isCovered ? 'covered' : 'uncovered'];
}

/** The sentences that ask, if they say about what; a story that comes before them may name anything. */
function whatIsAsked(query: string): string {
  const asking = query
    .split(/(?<=[.?!:])\s+/)
    .filter((sentence) => sentence.endsWith('?'))
    .join(' ');
  return queryTerms(asking).some((term) => !ASKING.has(term)) && asking !== '' ? asking : query;
}

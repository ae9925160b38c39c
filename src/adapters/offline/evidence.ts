import { indexTerms, queryTerms } from '../../lexical/terms.ts';
import { missingNames } from './named-terms.ts';
import { type QuestionKind, questionKind } from './question-kind.ts';
import type { Passage } from './read-request.ts';

/** Words that questions are made with; an answer need not have them. */
const ASKING = new Set(
  queryTerms(
    'difference different compare happen mean meaning work use used way need help kind type example explain describe ' +
      'define best good better long much far old big large soon make give take know learn understand purpose advantage ' +
      'reason cause important many often year date people name called',
  ),
);

/**
 * How alike to the question the nearest sentence must be, by cosine. Measured by `npm run bench:abstention`; see
 * decisions/0010.
 */
const LEAST_ALIKE = {
  /** One passage has every telling word of the question. */
  covered: 0.3,
  open: 0.4,
  fact: 0.65,
  seldom: 0.75,
};

export interface Asked {
  /** As the person wrote it. */
  question: string;
  /** So that it stands on its own. */
  query: string;
}

/**
 * Whether the passages answer the question and are not just near it. `meaning` is how alike the nearest of
 * their sentences is.
 */
export function isAnswered(
  { question, query }: Asked,
  passages: readonly Passage[],
  meaning: number,
): boolean {
  const said = passages.map(({ title, text }) => new Set([...indexTerms(title), ...indexTerms(text)]));
  const allSaid = new Set(said.flatMap((terms) => [...terms]));
  if (missingNames(query, allSaid).length > 0) return false;
  const telling = queryTerms(query).filter((term) => !ASKING.has(term));
  const isCovered = said.some((terms) => telling.every((term) => terms.has(term)));
  return meaning >= leastAlike(questionKind(question), isCovered);
}

function leastAlike(kind: QuestionKind, isCovered: boolean): number {
  if (kind === 'seldom') return LEAST_ALIKE.seldom;
  return isCovered ? LEAST_ALIKE.covered : LEAST_ALIKE[kind];
}

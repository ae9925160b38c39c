import { STOP_WORDS } from '../../lexical/stop-words.ts';
import { indexTerms, queryTerms } from '../../lexical/terms.ts';
import { missingNames } from './named-terms.ts';
import { newestIn, type QuestionKind, questionKind } from './question-kind.ts';
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

export interface Asked {
  /** As the person wrote it. */
  question: string;
  /** So that it stands on its own. */
  query: string;
}

/** Whether the passages answer the question and are not just near it. `meaning` is the nearest sentence's likeness. */
export function isAnswered(
  { question, query }: Asked,
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
    .split(/(?<=[.?!:])\s+/)
    .filter((sentence) => sentence.endsWith('?'))
    .join(' ');
  const saysWhat = queryTerms(asking).some((term) => !ASKING.has(term) && !STOP_WORDS.has(term));
  return saysWhat ? asking : question;
}

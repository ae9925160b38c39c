import { citationPassed } from '../../domain/citation.ts';
import type { CaseRun } from '../report/report-data.ts';
import { type Gold, type Metric, passed } from './metric.ts';
import { contentRecall, holdsPhrase, tokenF1 } from './normalised-words.ts';
import { hasExpectedSources, isExpected } from './retrieval-ranking.ts';

/** So many words in common make an answer that does not hold the expected one right all the same. */
const ENOUGH_IN_COMMON = 0.5;
/** So much of what an expected answer says, stop words aside, makes a longer answer right. */
const ENOUGH_OF_CONTENT = 0.75;
export const NEEDS_CORRECT =
  'no case says what is right: expectedPhrases, expectedAnswer, expectedSources or answerable: false';

/** Whether a case says enough to tell a right answer from a wrong one. */
export function canBeCorrect(gold: Gold): boolean {
  const { phrases, answers } = gold.expected;
  return gold.answerable === false || phrases.length + answers.length > 0 || hasExpectedSources(gold);
}

/**
 * Where the documents do not hold the answer, it is right to say so. Otherwise the answer must hold every expected
 * phrase; without phrases, it must say what an expected answer says; without either, a citation that passed must be
 * of an expected source. What is forbidden spoils any answer.
 */
export function isCorrect(run: CaseRun, gold: Gold): boolean {
  const { phrases, forbidden, answers } = gold.expected;
  const { answer } = run;
  if (run.error !== null || forbidden.some((phrase) => holdsPhrase(answer, phrase))) return false;
  if (gold.answerable === false) return run.abstained;
  if (run.abstained) return false;
  if (phrases.length > 0) return phrases.every((phrase) => holdsPhrase(answer, phrase));
  if (answers.length > 0) return answers.some((wanted) => saysTheSame(answer, wanted));
  return run.citations.some((citation) => citationPassed(citation) && isExpected(citation, gold) === true);
}

/** Whether an answer holds another one word for word, half of their words are the same, or it holds three quarters of its content. */
function saysTheSame(answer: string, wanted: string): boolean {
  return (
    holdsPhrase(answer, wanted) ||
    tokenF1(answer, wanted) >= ENOUGH_IN_COMMON ||
    contentRecall(answer, wanted) >= ENOUGH_OF_CONTENT
  );
}

export const answerCorrect: Metric = {
  id: 'answer.correct',
  label: 'Answered correctly',
  group: 'answer',
  unit: 'share',
  better: 'higher',
  kind: 'binary',
  description: 'Share of the questions that were answered as the case expects, or rightly not answered.',
  hasGold: canBeCorrect,
  needs: NEEDS_CORRECT,
  empty: NEEDS_CORRECT,
  measure: (run, gold) => passed(isCorrect(run, gold)),
};

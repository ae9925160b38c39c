import { isPassedCitation } from '../../domain/citation.ts';
import { quoteName } from '../../text/format-count.ts';
import type { CaseRun } from '../report/case-run.ts';
import { containsPhrase, matchesAnswer } from './match-answer.ts';
import { type CaseGold, type Metric, passContribution } from './metric.ts';
import { hasExpectedSources, isExpectedSource } from './retrieval-metrics.ts';

const NEEDS_CORRECT =
  'no case has expectedPhrases, expectedAnswer, expectedSources, checks or answerable: false';

/** Whether the gold of a case tells a right answer from a wrong one. */
export function canBeCorrect(gold: CaseGold): boolean {
  const { phrases, answers, checks } = gold.expected;
  return (
    gold.answerable === false ||
    phrases.length + answers.length + checks.length > 0 ||
    hasExpectedSources(gold)
  );
}

/** Null for an answer that cannot be graded. */
export function isCorrect(run: CaseRun, gold: CaseGold): boolean | null {
  return gradeAnswer(run, gold).correct;
}

interface AnswerGrade {
  /** Null if it cannot be graded. */
  correct: boolean | null;
  /** Why it is not correct, in a few words. */
  reason: string;
}

/**
 * An answer without forbidden phrases and failed checks is correct if it abstains on an unanswerable case, or else
 * contains every expected phrase, or without phrases says the same as an expected answer (as graded by a model, where
 * one is given), or without either passes a check, or without checks cites an expected source.
 */
export function gradeAnswer(run: CaseRun, gold: CaseGold): AnswerGrade {
  const { phrases, forbidden, answers, checks, sources, chunks } = gold.expected;
  const { answer } = run;
  const wrong = (reason: string): AnswerGrade => ({ correct: false, reason });
  const gradeAs = (correct: boolean, reason: string): AnswerGrade => ({
    correct,
    reason: correct ? '' : reason,
  });
  if (run.error !== null) return wrong(`failed: ${run.error.message}`);
  const said = forbidden.filter((phrase) => containsPhrase(answer, phrase));
  if (said.length > 0) return wrong(`contains forbidden ${said.map(quoteName).join(', ')}`);
  const failed = run.checks.find(({ passed }) => !passed);
  if (failed !== undefined) return wrong(`fails ${failed.check}: ${failed.reason}`);
  if (gold.answerable === false) return gradeAs(run.abstained, 'answers an unanswerable question');
  if (run.abstained) return wrong('abstains');
  if (phrases.length > 0) {
    const missing = phrases.filter((phrase) => !containsPhrase(answer, phrase));
    return gradeAs(missing.length === 0, `does not contain ${missing.map(quoteName).join(', ')}`);
  }
  if (answers.length > 0) {
    if (run.grade !== null) return gradeAs(run.grade.correct, run.grade.reason);
    const matches = answers.map((expected) => matchesAnswer(answer, expected));
    if (!matches.includes(true) && matches.includes(null))
      return { correct: null, reason: 'is not gradable by its words; use --grade-model' };
    return gradeAs(matches.includes(true), `does not say ${answers.map(quoteName).join(' or ')}`);
  }
  if (checks.length > 0) return gradeAs(run.checks.length > 0, 'was not checked');
  const isCited = run.citations.some(
    (citation) => isPassedCitation(citation) && isExpectedSource(citation, gold) === true,
  );
  return gradeAs(isCited, `does not cite ${[...sources, ...chunks].join(' or ')}`);
}

export const answerMetrics: readonly Metric[] = [
  {
    id: 'answer.correct',
    label: 'Answered correctly',
    group: 'answer',
    unit: 'share',
    better: 'higher',
    kind: 'binary',
    description: 'Share of questions answered as the case expects, or rightly not answered.',
    hasGold: canBeCorrect,
    needs: NEEDS_CORRECT,
    empty: 'no answer could be graded; use --grade-model',
    measure(run, gold) {
      const correct = isCorrect(run, gold);
      return correct === null ? null : passContribution(correct);
    },
  },
  {
    id: 'repeat.pass_all_k',
    label: 'pass^k',
    group: 'repeat',
    unit: 'share',
    better: 'higher',
    kind: 'binary',
    description: 'Share of questions answered correctly every time when asked k times.',
    hasGold: canBeCorrect,
    needs: NEEDS_CORRECT,
    empty: 'needs --repeat',
    measure: () => null,
    measureCase: (runs, gold) =>
      runs.length < 2 ? null : passContribution(countCorrect(runs, gold) === runs.length),
  },
];

export function countCorrect(runs: readonly CaseRun[], gold: CaseGold): number {
  return runs.filter((run) => isCorrect(run, gold) === true).length;
}

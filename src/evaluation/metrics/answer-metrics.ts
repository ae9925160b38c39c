import { isPassedCitation } from '../../domain/citation.ts';
import { quoteName } from '../../text/format-count.ts';
import { indexTerms, queryTerms } from '../../text/terms.ts';
import type { CaseRun } from '../report/case-run.ts';
import { type CaseGold, type Metric, passContribution, valueContribution } from './metric.ts';
import { hasExpectedSources, isExpectedSource } from './retrieval-metrics.ts';

/** An answer with this token F1, or this share of the content words, says the same as the expected answer. */
const MIN_TOKEN_F1 = 0.5;
const MIN_CONTENT_RECALL = 0.75;
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

export function isCorrect(run: CaseRun, gold: CaseGold): boolean {
  return explainIncorrect(run, gold) === null;
}

/**
 * Why an answer is not correct, in a few words; null if it is. An answer without forbidden phrases and failed checks
 * is correct if it abstains on an unanswerable case, or else contains every expected phrase, or without phrases says
 * the same as an expected answer, or without either passes a check, or without checks cites an expected source.
 */
export function explainIncorrect(run: CaseRun, gold: CaseGold): string | null {
  const { phrases, forbidden, answers, checks, sources, chunks } = gold.expected;
  const { answer } = run;
  if (run.error !== null) return `failed: ${run.error.message}`;
  const said = forbidden.filter((phrase) => containsPhrase(answer, phrase));
  if (said.length > 0) return `contains forbidden ${said.map(quoteName).join(', ')}`;
  const failed = run.checks.find(({ passed }) => !passed);
  if (failed !== undefined) return `fails ${failed.check}: ${failed.reason}`;
  if (gold.answerable === false) return run.abstained ? null : 'answers an unanswerable question';
  if (run.abstained) return 'abstains';
  if (phrases.length > 0) {
    const missing = phrases.filter((phrase) => !containsPhrase(answer, phrase));
    return missing.length === 0 ? null : `does not contain ${missing.map(quoteName).join(', ')}`;
  }
  if (answers.length > 0) {
    const isSaid = answers.some((expected) => saysTheSame(answer, expected));
    return isSaid ? null : `does not say ${answers.map(quoteName).join(' or ')}`;
  }
  if (checks.length > 0) return run.checks.length > 0 ? null : 'was not checked';
  return run.citations.some(
    (citation) => isPassedCitation(citation) && isExpectedSource(citation, gold) === true,
  )
    ? null
    : `does not cite ${[...sources, ...chunks].join(' or ')}`;
}

const share = { group: 'answer', unit: 'share', better: 'higher' } as const;

export const answerMetrics: readonly Metric[] = [
  {
    ...share,
    id: 'answer.correct',
    label: 'Answered correctly',
    kind: 'binary',
    description: 'Share of questions answered as the case expects, or rightly not answered.',
    hasGold: canBeCorrect,
    needs: NEEDS_CORRECT,
    measure: (run, gold) => passContribution(isCorrect(run, gold)),
  },
  {
    ...share,
    id: 'answer.f1',
    label: 'Token F1',
    kind: 'mean',
    description: 'Word overlap with the expected answer; the best if there are several.',
    hasGold: ({ expected }) => expected.answers.length > 0,
    needs: 'no case has expectedAnswer',
    measure: ({ answer }, { expected }) =>
      valueContribution(Math.max(...expected.answers.map((wanted) => tokenF1(answer, wanted)))),
  },
  {
    ...share,
    id: 'answer.clean',
    label: 'No forbidden phrase',
    kind: 'binary',
    description: 'Share of answers without a forbidden phrase.',
    hasGold: ({ expected }) => expected.forbidden.length > 0,
    needs: 'no case has forbiddenPhrases',
    measure: ({ answer, error }, { expected }) =>
      error === null
        ? passContribution(!expected.forbidden.some((phrase) => containsPhrase(answer, phrase)))
        : null,
  },
  {
    ...share,
    id: 'answer.checks',
    label: 'Checks passed',
    kind: 'ratio',
    description: 'Share of the custom checks that the answers pass.',
    hasGold: ({ expected }) => expected.checks.length > 0,
    needs: 'no case has checks',
    measure: ({ checks, error }, { expected }) => ({
      sum: checks.filter(({ passed }) => passed).length,
      of: error === null ? checks.length : expected.checks.length,
    }),
  },
];

const repeated = {
  group: 'repeat',
  unit: 'share',
  kind: 'binary',
  hasGold: canBeCorrect,
  needs: NEEDS_CORRECT,
  empty: 'needs --repeat',
  measure: () => null,
} as const;

/** Metrics over all runs of a case, without data for a case that ran once. */
export const repeatMetrics: readonly Metric[] = [
  {
    ...repeated,
    id: 'repeat.pass_all_k',
    label: 'pass^k',
    better: 'higher',
    description: 'Share of questions answered correctly every time when asked k times.',
    measureCase: overRuns((correct, runs) => correct === runs),
  },
  {
    ...repeated,
    id: 'repeat.flaky',
    label: 'Flake rate',
    better: 'lower',
    description: 'Share of questions answered correctly some of the times.',
    measureCase: overRuns((correct, runs) => correct > 0 && correct < runs),
  },
];

export function countCorrect(runs: readonly CaseRun[], gold: CaseGold): number {
  return runs.filter((run) => isCorrect(run, gold)).length;
}

function overRuns(passes: (correct: number, runs: number) => boolean): NonNullable<Metric['measureCase']> {
  return (runs, gold) =>
    runs.length < 2 ? null : passContribution(passes(countCorrect(runs, gold), runs.length));
}

const ASCII_TEXT = /^[ -~\s]*$/;
const ARTICLES = new Set(['a', 'an', 'the']);

/** Lower-case words without accents, punctuation, articles and citation markers. */
function normalizeWords(text: string): string[] {
  const lower = text.toLowerCase().replace(/\[\d+\]/g, ' ');
  // Unicode normalization is slow, and most texts do not need it.
  const words = ASCII_TEXT.test(lower)
    ? lower.match(/[a-z0-9]+/g)
    : lower
        .normalize('NFKD')
        .toLowerCase()
        .replace(/\p{M}+/gu, '')
        .match(/[\p{L}\p{N}]+/gu);
  return (words ?? []).filter((word) => !ARTICLES.has(word));
}

/** Whether the words of a phrase occur in a row, ignoring case, accents and punctuation. False for a phrase without words. */
export function containsPhrase(text: string, phrase: string): boolean {
  const wanted = normalizeWords(phrase);
  return wanted.length > 0 && ` ${normalizeWords(text).join(' ')} `.includes(` ${wanted.join(' ')} `);
}

function saysTheSame(answer: string, expected: string): boolean {
  return (
    containsPhrase(answer, expected) ||
    tokenF1(answer, expected) >= MIN_TOKEN_F1 ||
    contentRecall(answer, expected) >= MIN_CONTENT_RECALL
  );
}

function tokenF1(answer: string, expected: string): number {
  const given = normalizeWords(answer);
  const wanted = normalizeWords(expected);
  if (given.length === 0 || wanted.length === 0) return given.length === wanted.length ? 1 : 0;
  const left = new Map<string, number>();
  for (const word of wanted) left.set(word, (left.get(word) ?? 0) + 1);
  let common = 0;
  for (const word of given) {
    const count = left.get(word) ?? 0;
    if (count === 0) continue;
    left.set(word, count - 1);
    common += 1;
  }
  return (2 * common) / (given.length + wanted.length);
}

/** The share of the stemmed content words of the expected answer that the answer contains. */
function contentRecall(answer: string, expected: string): number {
  const wanted = queryTerms(expected);
  if (wanted.length === 0) return 0;
  const given = new Set(indexTerms(answer));
  return wanted.filter((term) => given.has(term)).length / wanted.length;
}

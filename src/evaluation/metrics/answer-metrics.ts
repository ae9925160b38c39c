import { citationPassed } from '../../domain/citation.ts';
import { quoted } from '../../text/phrasing.ts';
import { indexTerms, queryTerms } from '../../text/terms.ts';
import type { CaseRun } from '../report/case-run.ts';
import { type Gold, type Metric, passed, value } from './metric.ts';
import { hasExpectedSources, isExpected } from './retrieval-metrics.ts';

/** So many words in common make an answer that does not hold the expected one right all the same. */
const ENOUGH_IN_COMMON = 0.5;
/** So much of what an expected answer says, stop words aside, makes a longer answer right. */
const ENOUGH_OF_CONTENT = 0.75;
export const NEEDS_CORRECT =
  'no case says what is right: expectedPhrases, expectedAnswer, expectedSources, checks or answerable: false';

/** Whether a case says enough to tell a right answer from a wrong one. */
export function canBeCorrect(gold: Gold): boolean {
  const { phrases, answers } = gold.expected;
  const says = phrases.length + answers.length + gold.expected.checks.length > 0;
  return gold.answerable === false || says || hasExpectedSources(gold);
}

/**
 * Where the documents do not hold the answer, it is right to say so. Otherwise the answer must hold every expected
 * phrase; without phrases, it must say what an expected answer says; without either, a citation that passed must be
 * of an expected source. What is forbidden spoils any answer, and so does a check of one's own that fails; where
 * there are checks, sources need not be cited.
 */
export function isCorrect(run: CaseRun, gold: Gold): boolean {
  return whatIsWrong(run, gold) === null;
}

/** What keeps an answer from being correct, in a few words; null if nothing does. */
export function whatIsWrong(run: CaseRun, gold: Gold): string | null {
  const { phrases, forbidden, answers, checks, sources, chunks } = gold.expected;
  const { answer } = run;
  if (run.error !== null) return `ended in an error: ${run.error.message}`;
  const said = forbidden.filter((phrase) => containsPhrase(answer, phrase));
  if (said.length > 0) return `says what it must not: ${listed(said)}`;
  const failed = run.checks.find(({ passed: isPassed }) => !isPassed);
  if (failed !== undefined) return `fails ${failed.check}: ${failed.reason}`;
  if (gold.answerable === false) {
    return run.abstained ? null : 'answers, though the documents do not hold the answer';
  }
  if (run.abstained) return 'abstains';
  if (phrases.length > 0) {
    const missing = phrases.filter((phrase) => !containsPhrase(answer, phrase));
    return missing.length === 0 ? null : `does not say ${listed(missing)}`;
  }
  if (answers.length > 0) {
    const isSaid = answers.some((wanted) => saysTheSame(answer, wanted));
    return isSaid ? null : `does not say ${answers.map(quoted).join(' or ')}`;
  }
  // Checks of one's own are enough to say what is right.
  if (checks.length > 0) return run.checks.length > 0 ? null : 'was not checked';
  return run.citations.some((citation) => citationPassed(citation) && isExpected(citation, gold) === true)
    ? null
    : `does not cite ${[...sources, ...chunks].join(' or ')}`;
}

function listed(phrases: readonly string[]): string {
  return phrases.map(quoted).join(', ');
}

/** Whether an answer holds another one word for word, half of their words are the same, or it holds three quarters of its content. */
function saysTheSame(answer: string, wanted: string): boolean {
  return (
    containsPhrase(answer, wanted) ||
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

const NEEDS_ANSWER = 'no case has expectedAnswer';
const hasAnswer = ({ expected }: Gold) => expected.answers.length > 0;

export const exactMatch: Metric = {
  id: 'answer.exact',
  label: 'Exact match',
  group: 'answer',
  unit: 'share',
  better: 'higher',
  kind: 'binary',
  description:
    'Share of the answers that are an expected one but for case, punctuation, articles and markers.',
  hasGold: hasAnswer,
  needs: NEEDS_ANSWER,
  empty: NEEDS_ANSWER,
  measure({ answer }, { expected }) {
    const given = normalisedWords(answer).join(' ');
    return passed(expected.answers.some((wanted) => normalisedWords(wanted).join(' ') === given));
  },
};

export const answerOverlap: Metric = {
  id: 'answer.f1',
  label: 'Token F1',
  group: 'answer',
  unit: 'share',
  better: 'higher',
  kind: 'mean',
  description: 'Words in common with the expected answer, the best where there are several.',
  hasGold: hasAnswer,
  needs: NEEDS_ANSWER,
  empty: NEEDS_ANSWER,
  measure: ({ answer }, { expected }) =>
    value(Math.max(...expected.answers.map((wanted) => tokenF1(answer, wanted)))),
};

export const expectedPhrases: Metric = {
  id: 'answer.phrases',
  label: 'Expected phrases',
  group: 'answer',
  unit: 'share',
  better: 'higher',
  kind: 'mean',
  description: 'Share of the expected phrases that the answer holds.',
  hasGold: ({ expected }) => expected.phrases.length > 0,
  needs: 'no case has expectedPhrases',
  empty: 'no case has expectedPhrases',
  measure: ({ answer }, { expected }) =>
    value(
      expected.phrases.filter((phrase) => containsPhrase(answer, phrase)).length / expected.phrases.length,
    ),
};

export const forbiddenPhrases: Metric = {
  id: 'answer.clean',
  label: 'Nothing forbidden said',
  group: 'answer',
  unit: 'share',
  better: 'higher',
  kind: 'binary',
  description: 'Share of the answers that hold none of the forbidden phrases.',
  hasGold: ({ expected }) => expected.forbidden.length > 0,
  needs: 'no case has forbiddenPhrases',
  empty: 'no case has forbiddenPhrases',
  measure: ({ answer, error }, { expected }) =>
    error === null ? passed(!expected.forbidden.some((phrase) => containsPhrase(answer, phrase))) : null,
};

export const ownChecks: Metric = {
  id: 'answer.checks',
  label: 'Own checks passed',
  group: 'answer',
  unit: 'share',
  better: 'higher',
  kind: 'ratio',
  description: "Share of the cases' own checks that the answers pass.",
  hasGold: ({ expected }) => expected.checks.length > 0,
  needs: 'no case has checks',
  empty: 'no case has checks',
  measure: ({ checks, error }, { expected }) => ({
    sum: checks.filter(({ passed: isPassed }) => isPassed).length,
    of: error === null ? checks.length : expected.checks.length,
  }),
};

/** Most text is, and needs none of the slower rules. */
const PLAIN = /^[ -~\s]*$/;
const ARTICLES = new Set(['a', 'an', 'the']);

/** The words of a text as answers are compared: lower case, no accents, no punctuation, no articles. */
function normalisedWords(text: string): string[] {
  const lower = text.toLowerCase().replace(/\[\d+\]/g, ' ');
  const words = PLAIN.test(lower)
    ? lower.match(/[a-z0-9]+/g)
    : lower
        .normalize('NFKD')
        .toLowerCase()
        .replace(/\p{M}+/gu, '')
        .match(/[\p{L}\p{N}]+/gu);
  return (words ?? []).filter((word) => !ARTICLES.has(word));
}

/** Whether the words of a phrase stand in a row in a text. A phrase of nothing but punctuation stands nowhere. */
export function containsPhrase(text: string, phrase: string): boolean {
  const wanted = normalisedWords(phrase);
  return wanted.length > 0 && ` ${normalisedWords(text).join(' ')} `.includes(` ${wanted.join(' ')} `);
}

/** The harmonic mean of the shares of words in common, each word as often as it stands on both sides. */
function tokenF1(answer: string, expected: string): number {
  const given = normalisedWords(answer);
  const wanted = normalisedWords(expected);
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

/** The share of the terms of a text, stop words aside, that an answer holds in any form of the word. */
function contentRecall(answer: string, expected: string): number {
  const wanted = queryTerms(expected);
  if (wanted.length === 0) return 0;
  const given = new Set(indexTerms(answer));
  return wanted.filter((term) => given.has(term)).length / wanted.length;
}

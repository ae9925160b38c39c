import { type Gold, type Metric, passed, value } from './metric.ts';
import { holdsPhrase, normalisedWords, tokenF1 } from './normalised-words.ts';

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
    value(expected.phrases.filter((phrase) => holdsPhrase(answer, phrase)).length / expected.phrases.length),
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
    error === null ? passed(!expected.forbidden.some((phrase) => holdsPhrase(answer, phrase))) : null,
};

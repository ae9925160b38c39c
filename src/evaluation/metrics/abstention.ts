import { type Gold, type Metric, passed } from './metric.ts';

const NEEDS = 'no case says answerable';
const saysAnswerable = ({ answerable }: Gold) => answerable !== null;
const shared = { group: 'abstention', unit: 'share', better: 'higher' } as const;

export const abstentionPrecision: Metric = {
  ...shared,
  id: 'abstention.precision',
  label: 'Abstention precision',
  kind: 'ratio',
  description: 'Of the answers that were withheld, the share that the documents indeed do not hold.',
  hasGold: saysAnswerable,
  needs: NEEDS,
  empty: 'no answer was withheld',
  measure: ({ abstained }, { answerable }) => ({
    sum: abstained && answerable === false ? 1 : 0,
    of: abstained ? 1 : 0,
  }),
};

export const abstentionRecall: Metric = {
  ...shared,
  id: 'abstention.recall',
  label: 'Abstention recall',
  kind: 'binary',
  description: 'Of the questions that the documents do not answer, the share where the answer says so.',
  hasGold: ({ answerable }) => answerable === false,
  needs: 'no case says answerable: false',
  empty: 'no case says answerable: false',
  measure: ({ abstained }) => passed(abstained),
};

/** 2 TP by (withheld + unanswerable), which is the harmonic mean of the two above. */
export const abstentionF1: Metric = {
  ...shared,
  id: 'abstention.f1',
  label: 'Abstention F1',
  kind: 'ratio',
  description: 'The harmonic mean of abstention precision and recall.',
  hasGold: saysAnswerable,
  needs: NEEDS,
  empty: 'every case is answerable, and no answer was withheld',
  measure: ({ abstained }, { answerable }) => ({
    sum: abstained && answerable === false ? 2 : 0,
    of: (abstained ? 1 : 0) + (answerable === false ? 1 : 0),
  }),
};

import type { CaseRun } from '../report/case-run.ts';
import { ALL_FAILED, type Contribution, type Gold, type Metric, passed } from './metric.ts';

const NEEDS_ANSWERABLE = 'no case says answerable';
const saysAnswerable = ({ answerable }: Gold) => answerable !== null;
const abstention = { group: 'abstention', unit: 'share', better: 'higher' } as const;

export const abstentionPrecision: Metric = {
  ...abstention,
  id: 'abstention.precision',
  label: 'Abstention precision',
  kind: 'ratio',
  description: 'Of the answers that were withheld, the share that the documents indeed do not hold.',
  hasGold: saysAnswerable,
  needs: NEEDS_ANSWERABLE,
  empty: 'no answer was withheld',
  measure: ({ abstained }, { answerable }) => ({
    sum: abstained && answerable === false ? 1 : 0,
    of: abstained ? 1 : 0,
  }),
};

export const abstentionRecall: Metric = {
  ...abstention,
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
  ...abstention,
  id: 'abstention.f1',
  label: 'Abstention F1',
  kind: 'ratio',
  description: 'The harmonic mean of abstention precision and recall.',
  hasGold: saysAnswerable,
  needs: NEEDS_ANSWERABLE,
  empty: 'every case is answerable, and no answer was withheld',
  measure: ({ abstained }, { answerable }) => ({
    sum: abstained && answerable === false ? 2 : 0,
    of: (abstained ? 1 : 0) + (answerable === false ? 1 : 0),
  }),
};

const decision = { group: 'decision', unit: 'share' } as const;
const mustSearch = ({ needsRetrieval }: Gold) => needsRetrieval === true;
const NEEDS_TRUE = 'no case says needsRetrieval: true';
const NEEDS_FALSE = 'no case says needsRetrieval: false';

/** Of a run that failed it is not known what it would have decided. */
function unlessFailed(measured: (run: CaseRun, gold: Gold) => Contribution): Metric['measure'] {
  return (run, gold) => (run.error === null ? measured(run, gold) : null);
}

export const decisionPrecision: Metric = {
  ...decision,
  id: 'decision.precision',
  label: 'Search precision',
  better: 'higher',
  kind: 'ratio',
  description: 'Of the turns that searched, the share that had to.',
  hasGold: ({ needsRetrieval }) => needsRetrieval !== null,
  needs: 'no case says needsRetrieval',
  empty: 'nothing was searched for',
  measure: unlessFailed(({ searches }, gold) => ({
    sum: searches > 0 && mustSearch(gold) ? 1 : 0,
    of: searches > 0 ? 1 : 0,
  })),
};

export const decisionRecall: Metric = {
  ...decision,
  id: 'decision.recall',
  label: 'Search recall',
  better: 'higher',
  kind: 'binary',
  description: 'Of the turns that had to search, the share that did.',
  hasGold: mustSearch,
  needs: NEEDS_TRUE,
  empty: ALL_FAILED,
  measure: unlessFailed(({ searches }) => passed(searches > 0)),
};

export const overSearch: Metric = {
  ...decision,
  id: 'decision.over',
  label: 'Over-search',
  better: 'lower',
  kind: 'binary',
  description: 'Of the turns that need no search, the share that searched.',
  hasGold: ({ needsRetrieval }) => needsRetrieval === false,
  needs: NEEDS_FALSE,
  empty: ALL_FAILED,
  measure: unlessFailed(({ searches }) => passed(searches > 0)),
};

export const underSearch: Metric = {
  ...decision,
  id: 'decision.under',
  label: 'Under-search',
  better: 'lower',
  kind: 'binary',
  description: 'Of the turns that had to search, the share that did not.',
  hasGold: mustSearch,
  needs: NEEDS_TRUE,
  empty: ALL_FAILED,
  measure: unlessFailed(({ searches }) => passed(searches === 0)),
};

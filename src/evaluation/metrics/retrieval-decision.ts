import type { CaseRun } from '../report/report-data.ts';
import { type Contribution, type Gold, type Metric, passed } from './metric.ts';

const shared = { group: 'decision', unit: 'share' } as const;
const needs = ({ needsRetrieval }: Gold) => needsRetrieval === true;
const NEEDS_TRUE = 'no case says needsRetrieval: true';
const NEEDS_FALSE = 'no case says needsRetrieval: false';
const ALL_FAILED = 'every run ended in an error';

/** Of a run that failed it is not known what it would have decided. */
function unlessFailed(measured: (run: CaseRun, gold: Gold) => Contribution): Metric['measure'] {
  return (run, gold) => (run.error === null ? measured(run, gold) : null);
}

export const decisionPrecision: Metric = {
  ...shared,
  id: 'decision.precision',
  label: 'Search precision',
  better: 'higher',
  kind: 'ratio',
  description: 'Of the turns that searched, the share that had to.',
  hasGold: ({ needsRetrieval }) => needsRetrieval !== null,
  needs: 'no case says needsRetrieval',
  empty: 'nothing was searched for',
  measure: unlessFailed(({ searches }, gold) => ({
    sum: searches > 0 && needs(gold) ? 1 : 0,
    of: searches > 0 ? 1 : 0,
  })),
};

export const decisionRecall: Metric = {
  ...shared,
  id: 'decision.recall',
  label: 'Search recall',
  better: 'higher',
  kind: 'binary',
  description: 'Of the turns that had to search, the share that did.',
  hasGold: needs,
  needs: NEEDS_TRUE,
  empty: ALL_FAILED,
  measure: unlessFailed(({ searches }) => passed(searches > 0)),
};

export const overSearch: Metric = {
  ...shared,
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
  ...shared,
  id: 'decision.under',
  label: 'Under-search',
  better: 'lower',
  kind: 'binary',
  description: 'Of the turns that had to search, the share that did not.',
  hasGold: needs,
  needs: NEEDS_TRUE,
  empty: ALL_FAILED,
  measure: unlessFailed(({ searches }) => passed(searches === 0)),
};

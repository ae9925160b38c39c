import type { CaseRun } from '../report/case-run.ts';
import {
  ALL_RUNS_FAILED,
  type CaseGold,
  type Metric,
  type MetricContribution,
  passContribution,
} from './metric.ts';

const abstention = { group: 'abstention', unit: 'share', better: 'higher' } as const;
const hasAnswerable = ({ answerable }: CaseGold) => answerable !== null;

export const abstentionMetrics: readonly Metric[] = [
  {
    ...abstention,
    id: 'abstention.precision',
    label: 'Abstention precision',
    kind: 'ratio',
    description: 'Share of the abstentions that were right: the documents do not contain the answer.',
    hasGold: hasAnswerable,
    needs: 'no case has answerable',
    empty: 'no answer abstained',
    measure: ({ abstained }, { answerable }) => ({
      sum: abstained && answerable === false ? 1 : 0,
      of: abstained ? 1 : 0,
    }),
  },
  {
    ...abstention,
    id: 'abstention.recall',
    label: 'Abstention recall',
    kind: 'binary',
    description: 'Share of the unanswerable questions on which the answer abstains.',
    hasGold: ({ answerable }) => answerable === false,
    needs: 'no case has answerable: false',
    empty: 'no case has answerable: false',
    measure: ({ abstained }) => passContribution(abstained),
  },
  {
    ...abstention,
    id: 'abstention.f1',
    label: 'Abstention F1',
    kind: 'ratio',
    description: 'Harmonic mean of abstention precision and recall.',
    hasGold: hasAnswerable,
    needs: 'no case has answerable',
    empty: 'every case is answerable, and no answer abstained',
    // 2 TP / (abstained + unanswerable).
    measure: ({ abstained }, { answerable }) => ({
      sum: abstained && answerable === false ? 2 : 0,
      of: (abstained ? 1 : 0) + (answerable === false ? 1 : 0),
    }),
  },
];

const decision = {
  group: 'decision',
  unit: 'share',
  better: 'lower',
  kind: 'binary',
  empty: ALL_RUNS_FAILED,
} as const;

/** Whether the agent searched when it should. Failed runs do not count. */
export const searchMetrics: readonly Metric[] = [
  {
    ...decision,
    id: 'decision.over',
    label: 'Over-search',
    description: 'Share of the turns that need no search and searched.',
    hasGold: ({ needsRetrieval }) => needsRetrieval === false,
    needs: 'no case has needsRetrieval: false',
    measure: unlessFailed(({ searches }) => passContribution(searches > 0)),
  },
  {
    ...decision,
    id: 'decision.under',
    label: 'Under-search',
    description: 'Share of the turns that need a search and did not search.',
    hasGold: ({ needsRetrieval }) => needsRetrieval === true,
    needs: 'no case has needsRetrieval: true',
    measure: unlessFailed(({ searches }) => passContribution(searches === 0)),
  },
];

function unlessFailed(measure: (run: CaseRun) => MetricContribution): Metric['measure'] {
  return (run) => (run.error === null ? measure(run) : null);
}

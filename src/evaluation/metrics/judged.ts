import { type Metric, value } from './metric.ts';

const shared = { group: 'judge', unit: 'share', kind: 'mean' } as const;
const EMPTY = 'no model was asked to judge (--judge)';

export const judgedFaithfulness: Metric = {
  ...shared,
  id: 'judge.faithfulness',
  label: 'Judged faithfulness',
  better: 'higher',
  description: 'How far a model holds the answer to be borne out by what was retrieved, 0 to 1.',
  empty: EMPTY,
  measure: ({ judge }) => (judge === null ? null : value(meanOf(judge.scores))),
};

/** A judge that contradicts itself proves little: the standard deviation over its judgements of the same answer. */
export const judgeSpread: Metric = {
  ...shared,
  id: 'judge.spread',
  label: 'Spread of the judge',
  better: 'lower',
  description: 'Standard deviation of repeated judgements of the same answer.',
  empty: 'no answer was judged more than once (--judge 3)',
  measure({ judge }) {
    if (judge === null || judge.scores.length < 2) return null;
    const mean = meanOf(judge.scores);
    const squares = judge.scores.reduce((sum, score) => sum + (score - mean) ** 2, 0);
    return value(Math.sqrt(squares / (judge.scores.length - 1)));
  },
};

function meanOf(scores: readonly number[]): number {
  return scores.reduce((sum, score) => sum + score, 0) / scores.length;
}

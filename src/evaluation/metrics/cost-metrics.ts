import type { CaseRun } from '../report/case-run.ts';
import { ALL_RUNS_FAILED, type Metric, valueContribution } from './metric.ts';

/** Effort, tokens, money and time per turn. Failed runs do not count. */
export const costMetrics: readonly Metric[] = [
  {
    ...perTurn(({ steps }) => steps),
    id: 'effort.steps',
    label: 'Steps',
    group: 'effort',
    unit: 'number',
    description: 'Model responses and searches made beforehand, per turn.',
  },
  {
    ...perTurn(({ searches }) => searches),
    id: 'effort.searches',
    label: 'Searches',
    group: 'effort',
    unit: 'number',
    description: 'Searches per turn.',
  },
  {
    ...perTurn(({ tokens }) => tokens.total),
    id: 'cost.tokens',
    label: 'Tokens',
    group: 'cost',
    unit: 'tokens',
    description: 'Input and output tokens per turn.',
  },
  {
    ...perTurn(({ cost }) => cost, 'no price is known for the model (--prices)'),
    id: 'cost.money',
    label: 'Cost',
    group: 'cost',
    unit: 'money',
    description: 'Price of a turn by the price file.',
  },
  {
    ...perTurn(({ timesMs }) => timesMs.firstToken, 'no answer was streamed'),
    id: 'time.first_token',
    label: 'Time to first token',
    group: 'time',
    unit: 'ms',
    description: 'From the question to the first text of the answer.',
  },
  {
    ...perTurn(({ timesMs }) => timesMs.total),
    id: 'time.total',
    label: 'Total time',
    group: 'time',
    unit: 'ms',
    description: 'From the question to the checked answer.',
  },
];

function perTurn(
  readValue: (run: CaseRun) => number | null,
  empty = ALL_RUNS_FAILED,
): Pick<Metric, 'better' | 'kind' | 'empty' | 'measure'> {
  return {
    better: 'lower',
    kind: 'mean',
    empty,
    measure(run) {
      const value = run.error === null ? readValue(run) : null;
      return value === null ? null : valueContribution(value);
    },
  };
}

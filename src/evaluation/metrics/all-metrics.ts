import { isPassedCitation } from '../../domain/citation.ts';
import { matchesSource } from '../cases/expected-source.ts';
import type { CaseRun } from '../report/case-run.ts';
import { answerMetrics } from './answer-metrics.ts';
import { type CaseGold, type Metric, passContribution, valueContribution } from './metric.ts';
import { hasExpectedSources, NO_EXPECTED_SOURCES, retrievalMetrics } from './retrieval-metrics.ts';

const ALL_RUNS_FAILED = 'every run failed';

const citation = { group: 'citation', unit: 'share', better: 'higher' } as const;

const citationMetrics: readonly Metric[] = [
  {
    ...citation,
    id: 'citation.precision',
    label: 'Citation precision',
    kind: 'ratio',
    description: 'Share of citations whose chunk supports the sentence; made-up sources count as failed.',
    empty: 'nothing was cited',
    measure: ({ citations, checked }) =>
      checked ? { sum: citations.filter(isPassedCitation).length, of: citations.length } : null,
  },
  {
    ...citation,
    id: 'citation.recall',
    label: 'Citation recall',
    kind: 'mean',
    description: 'Share of the expected sources that the answer cites with support.',
    hasGold: hasExpectedSources,
    needs: NO_EXPECTED_SOURCES,
    measure({ citations }, { expected: { chunks, sources } }) {
      const passed = citations.filter(isPassedCitation);
      const wanted = chunks.length > 0 ? chunks : sources;
      const isCited = (item: string) =>
        passed.some(({ chunkId, url }) => (chunks.length > 0 ? chunkId === item : matchesSource(item, url)));
      return valueContribution(wanted.filter(isCited).length / wanted.length);
    },
  },
  {
    ...citation,
    id: 'citation.sentences',
    label: 'Sentences supported',
    kind: 'ratio',
    description: 'Share of the stating sentences that their citations support.',
    empty: 'no answer came from the documents',
    measure({ sentences, abstained, searches, checked, error }) {
      // Small talk and abstentions state nothing that a document could support.
      const isSmallTalk = searches === 0 && sentences.every(({ verdict }) => verdict === null);
      if (error !== null || abstained || isSmallTalk || !checked) return null;
      return { sum: sentences.filter(isPassedCitation).length, of: sentences.length };
    },
  },
];

const abstention = { group: 'abstention', unit: 'share', better: 'higher' } as const;
const hasAnswerable = ({ answerable }: CaseGold) => answerable !== null;

const abstentionMetrics: readonly Metric[] = [
  {
    ...abstention,
    id: 'abstention.precision',
    label: 'Declined rightly',
    kind: 'ratio',
    description: 'Share of the declined questions that the documents do not answer.',
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
    label: 'Declined unanswerable',
    kind: 'binary',
    description: 'Share of the unanswerable questions that were declined.',
    hasGold: ({ answerable }) => answerable === false,
    needs: 'no case has answerable: false',
    measure: ({ abstained }) => passContribution(abstained),
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
const searchMetrics: readonly Metric[] = [
  {
    ...decision,
    id: 'decision.over',
    label: 'Over-search',
    description: 'Share of the turns that need no search and searched.',
    hasGold: ({ needsRetrieval }) => needsRetrieval === false,
    needs: 'no case has needsRetrieval: false',
    measure: ({ searches, error }) => (error === null ? passContribution(searches > 0) : null),
  },
  {
    ...decision,
    id: 'decision.under',
    label: 'Under-search',
    description: 'Share of the turns that need a search and did not search.',
    hasGold: ({ needsRetrieval }) => needsRetrieval === true,
    needs: 'no case has needsRetrieval: true',
    measure: ({ searches, error }) => (error === null ? passContribution(searches === 0) : null),
  },
];

/** Searches, tokens, money and time per turn. Failed runs do not count. */
const costMetrics: readonly Metric[] = [
  {
    ...perTurn(({ searches }) => searches),
    id: 'effort.searches',
    label: 'Searches',
    group: 'effort',
    unit: 'number',
    description: 'Searches per turn.',
  },
  {
    ...perTurn(({ tokens }) => tokens.total || null, 'no tokens were counted'),
    id: 'cost.tokens',
    label: 'Tokens',
    group: 'cost',
    unit: 'tokens',
    description: 'Input and output tokens per turn.',
  },
  {
    ...perTurn(({ cost }) => cost, 'needs --prices'),
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
    // The clock stands still on a tape.
    ...perTurn(({ timesMs }) => timesMs.total || null, 'times are not measured on a tape'),
    id: 'time.total',
    label: 'Time to answer',
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

/** Every metric, in display order. */
export const allMetrics: readonly Metric[] = [
  ...answerMetrics,
  ...retrievalMetrics,
  ...citationMetrics,
  ...abstentionMetrics,
  ...searchMetrics,
  ...costMetrics,
];

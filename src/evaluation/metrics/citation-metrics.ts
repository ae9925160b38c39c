import { citationPassed } from '../../domain/citation.ts';
import { matchesSource } from '../cases/expected-source.ts';
import { type Metric, valueContribution } from './metric.ts';
import { hasExpectedSources, NO_EXPECTED_SOURCES } from './retrieval-metrics.ts';

const share = { group: 'citation', unit: 'share', better: 'higher' } as const;

export const citationMetrics: readonly Metric[] = [
  {
    ...share,
    id: 'citation.precision',
    label: 'Citation precision',
    kind: 'ratio',
    description: 'Share of citations whose chunk supports the sentence; made-up sources count as failed.',
    empty: 'nothing was cited',
    measure: ({ citations }) => ({ sum: citations.filter(citationPassed).length, of: citations.length }),
  },
  {
    ...share,
    id: 'citation.recall',
    label: 'Citation recall',
    kind: 'mean',
    description: 'Share of the expected sources that the answer cites with support.',
    hasGold: hasExpectedSources,
    needs: NO_EXPECTED_SOURCES,
    empty: NO_EXPECTED_SOURCES,
    measure({ citations }, { expected: { chunks, sources } }) {
      const passed = citations.filter(citationPassed);
      const wanted = chunks.length > 0 ? chunks : sources;
      const isCited = (item: string) =>
        passed.some(({ chunkId, url }) => (chunks.length > 0 ? chunkId === item : matchesSource(item, url)));
      return valueContribution(wanted.filter(isCited).length / wanted.length);
    },
  },
  {
    ...share,
    id: 'citation.sentences',
    label: 'Sentences supported',
    kind: 'ratio',
    description: 'Share of the stating sentences that their citations support.',
    empty: 'no answer came from the documents',
    measure({ sentences, abstained, searches, error }) {
      // Small talk and abstentions state nothing that a document could support.
      const isSmallTalk = searches === 0 && sentences.every(({ verdict }) => verdict === null);
      if (error !== null || abstained || isSmallTalk) return null;
      return { sum: sentences.filter(citationPassed).length, of: sentences.length };
    },
  },
];

export const judgeMetrics: readonly Metric[] = [
  {
    id: 'judge.faithfulness',
    label: 'Judged faithfulness',
    group: 'judge',
    unit: 'share',
    better: 'higher',
    kind: 'mean',
    description: 'Share of the statements that the retrieved passages support, as judged by a model.',
    empty: 'there was no judge (--judge-model)',
    measure({ judge }) {
      if (judge === null || judge.scores.length === 0) return null;
      return valueContribution(judge.scores.reduce((sum, score) => sum + score, 0) / judge.scores.length);
    },
  },
];

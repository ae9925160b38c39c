import { citationPassed } from '../../domain/citation.ts';
import { matchesSource } from '../cases/matches-source.ts';
import { type Metric, value } from './metric.ts';
import { hasExpectedSources, NEEDS_SOURCES } from './retrieval-ranking.ts';

export const citationRecall: Metric = {
  id: 'citation.recall',
  label: 'Citation recall',
  group: 'citation',
  unit: 'share',
  better: 'higher',
  kind: 'mean',
  description: 'Share of the expected sources that the answer cites and that bear it out.',
  hasGold: hasExpectedSources,
  needs: NEEDS_SOURCES,
  empty: NEEDS_SOURCES,
  measure({ citations }, { expected }) {
    const held = citations.filter(citationPassed);
    const wanted = expected.chunks.length > 0 ? expected.chunks : expected.sources;
    const isCited = (item: string) =>
      held.some(({ chunkId, url }) =>
        expected.chunks.length > 0 ? chunkId === item : matchesSource(item, url),
      );
    return value(wanted.filter(isCited).length / wanted.length);
  },
};

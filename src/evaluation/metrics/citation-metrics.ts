import { citationPassed } from '../../domain/citation.ts';
import { matchesSource } from '../cases/expected-source.ts';
import { type Metric, value } from './metric.ts';
import { hasExpectedSources, NEEDS_SOURCES } from './retrieval-metrics.ts';

export const citationPrecision: Metric = {
  id: 'citation.precision',
  label: 'Citation precision',
  group: 'citation',
  unit: 'share',
  better: 'higher',
  kind: 'ratio',
  description: 'Share of the citations whose chunk bears out the sentence; made-up sources count against it.',
  empty: 'nothing was cited',
  measure: ({ citations }) => ({ sum: citations.filter(citationPassed).length, of: citations.length }),
};

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

export const sentencesSupported: Metric = {
  id: 'citation.sentences',
  label: 'Sentences supported',
  group: 'citation',
  unit: 'share',
  better: 'higher',
  kind: 'ratio',
  description: 'Share of the sentences that state something and are borne out by what they cite.',
  empty: 'no answer came from the documents',
  measure({ sentences, abstained, searches, error }) {
    // Small talk and "I don't have information" state nothing that a document could bear out.
    if (
      error !== null ||
      abstained ||
      (searches === 0 && sentences.every(({ verdict }) => verdict === null))
    ) {
      return null;
    }
    const supported = sentences.filter(citationPassed).length;
    return { sum: supported, of: sentences.length };
  },
};

export const quoteFidelity: Metric = {
  id: 'citation.quotes',
  label: 'Quote fidelity',
  group: 'citation',
  unit: 'share',
  better: 'higher',
  kind: 'ratio',
  description:
    'Share of the quotes of three words or more in cited sentences that stand word for word in a cited chunk; texts in code are none.',
  empty: 'nothing was quoted',
  measure: ({ quotes }) => ({ sum: quotes.held, of: quotes.total }),
};

export const numberFidelity: Metric = {
  id: 'citation.numbers',
  label: 'Number fidelity',
  group: 'citation',
  unit: 'share',
  better: 'higher',
  kind: 'ratio',
  description: 'Share of the numbers in cited sentences that a cited chunk gives, with the same unit.',
  empty: 'no cited sentence gives a number',
  measure: ({ numbers }) => ({ sum: numbers.held, of: numbers.total }),
};

const judge = { group: 'judge', unit: 'share', kind: 'mean' } as const;
const EMPTY = 'no model was asked to judge (--judge-model)';

export const judgedFaithfulness: Metric = {
  ...judge,
  id: 'judge.faithfulness',
  label: 'Judged faithfulness',
  better: 'higher',
  description: 'How far a model holds the answer to be borne out by what was retrieved, 0 to 1.',
  empty: EMPTY,
  measure: ({ judge }) => (judge === null || judge.scores.length === 0 ? null : value(meanOf(judge.scores))),
};

/** A judge that contradicts itself proves little: the standard deviation over its judgements of the same answer. */
export const judgeSpread: Metric = {
  ...judge,
  id: 'judge.spread',
  label: 'Spread of the judge',
  better: 'lower',
  description: 'Standard deviation of repeated judgements of the same answer.',
  empty: 'no answer was judged more than once (--judge 3 --judge-model)',
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

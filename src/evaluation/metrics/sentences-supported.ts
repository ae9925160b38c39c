import type { Metric } from './metric.ts';

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
    const supported = sentences.filter(({ verdict }) => verdict === 'supported').length;
    return { sum: supported, of: sentences.length };
  },
};

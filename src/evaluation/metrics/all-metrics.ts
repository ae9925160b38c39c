import {
  answerCorrect,
  answerOverlap,
  exactMatch,
  expectedPhrases,
  forbiddenPhrases,
  ownChecks,
} from './answer-metrics.ts';
import {
  citationPrecision,
  citationRecall,
  judgedFaithfulness,
  judgeSpread,
  numberFidelity,
  quoteFidelity,
  sentencesSupported,
} from './citation-metrics.ts';
import {
  abstentionF1,
  abstentionPrecision,
  abstentionRecall,
  decisionPrecision,
  decisionRecall,
  overSearch,
  underSearch,
} from './decision-metrics.ts';
import {
  cost,
  duplicateSearches,
  searches,
  steps,
  timeToFirstToken,
  tokens,
  tokensPerCorrect,
  totalTime,
} from './effort-metrics.ts';
import type { Metric } from './metric.ts';
import { flakeRate, passAtK, passToTheK } from './repeat-metrics.ts';
import { meanReciprocalRank, ndcg, recallAt } from './retrieval-metrics.ts';

/** Every metric, in the order in which they are shown. */
export const allMetrics: readonly Metric[] = [
  answerCorrect,
  exactMatch,
  answerOverlap,
  expectedPhrases,
  forbiddenPhrases,
  ownChecks,
  passAtK,
  passToTheK,
  flakeRate,
  recallAt(5),
  recallAt(10),
  meanReciprocalRank,
  ndcg,
  citationPrecision,
  citationRecall,
  sentencesSupported,
  quoteFidelity,
  numberFidelity,
  abstentionPrecision,
  abstentionRecall,
  abstentionF1,
  decisionPrecision,
  decisionRecall,
  overSearch,
  underSearch,
  steps,
  searches,
  duplicateSearches,
  tokens,
  tokensPerCorrect,
  cost,
  timeToFirstToken,
  totalTime,
  judgedFaithfulness,
  judgeSpread,
];

import { abstentionF1, abstentionPrecision, abstentionRecall } from './abstention.ts';
import { answerCorrect } from './answer-correct.ts';
import { answerOverlap, exactMatch, expectedPhrases, forbiddenPhrases } from './answer-match.ts';
import { citationPrecision } from './citation-precision.ts';
import { citationRecall } from './citation-recall.ts';
import { duplicateSearches, searches, steps } from './effort.ts';
import { numberFidelity, quoteFidelity } from './fidelity.ts';
import { judgedFaithfulness, judgeSpread } from './judged.ts';
import { meanReciprocalRank } from './mean-reciprocal-rank.ts';
import type { Metric } from './metric.ts';
import { ndcg } from './ndcg.ts';
import { recallAt } from './recall.ts';
import { decisionPrecision, decisionRecall, overSearch, underSearch } from './retrieval-decision.ts';
import { sentencesSupported } from './sentences-supported.ts';
import { cost, tokens, tokensPerCorrect } from './spending.ts';
import { timeToFirstToken, totalTime } from './times.ts';

/** Every metric, in the order in which they are shown. */
export const allMetrics: readonly Metric[] = [
  answerCorrect,
  exactMatch,
  answerOverlap,
  expectedPhrases,
  forbiddenPhrases,
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

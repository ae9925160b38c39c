import { answerMetrics, repeatMetrics } from './answer-metrics.ts';
import { citationMetrics, judgeMetrics } from './citation-metrics.ts';
import { costMetrics } from './cost-metrics.ts';
import type { Metric } from './metric.ts';
import { retrievalMetrics } from './retrieval-metrics.ts';
import { abstentionMetrics, searchMetrics } from './search-metrics.ts';

/** Every metric, in display order. */
export const allMetrics: readonly Metric[] = [
  ...answerMetrics,
  ...repeatMetrics,
  ...retrievalMetrics,
  ...citationMetrics,
  ...abstentionMetrics,
  ...searchMetrics,
  ...costMetrics,
  ...judgeMetrics,
];

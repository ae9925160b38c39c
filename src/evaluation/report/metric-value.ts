import * as z from 'zod';
import { count, interval, metricId, number } from './schema-parts.ts';

/** What a metric is, once for the whole report, in the order in which to show them. */
export const metricInfoSchema = z.strictObject({
  /** `citation.precision` and the like: what gates and baselines name. */
  id: metricId,
  label: z.string().min(1),
  group: z.enum([
    'answer',
    'repeat',
    'retrieval',
    'citation',
    'abstention',
    'decision',
    'effort',
    'cost',
    'time',
    'judge',
  ]),
  /** How values read: a share of 1, a plain number, tokens, money by the price file, milliseconds. */
  unit: z.enum(['share', 'number', 'tokens', 'money', 'ms']),
  better: z.enum(['higher', 'lower']),
  /** Binary: each case passes or not. Mean: the average over cases. Ratio: a sum over cases by another sum. */
  kind: z.enum(['binary', 'mean', 'ratio']),
  /** One sentence: what it says. */
  description: z.string().min(1),
});
export type MetricInfo = z.infer<typeof metricInfoSchema>;

/** A value over `n` cases with its 95 % interval (null below two cases), or why there is none. */
export const metricValueSchema = z.discriminatedUnion('status', [
  z.strictObject({ status: z.literal('value'), value: number, interval: interval.nullable(), n: count }),
  z.strictObject({ status: z.literal('no data'), reason: z.string().min(1) }),
]);
export type MetricValue = z.infer<typeof metricValueSchema>;

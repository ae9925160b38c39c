import * as z from 'zod';
import { LABELS } from './label.ts';

export const CALIBRATION_FORMAT = 1;

/** Who is held against people: the program's check, the same by words alone, and a model that is asked. */
export const JUDGES = ['check', 'words', 'model'] as const;
export type JudgeName = (typeof JUDGES)[number];

/** From the best to the worst; a judge need not know all of them. */
export const VERDICTS = ['quoted', 'supported', 'weak', 'unsupported'] as const;

const intervalSchema = z.tuple([z.number(), z.number()]);
const estimateSchema = z
  .object({ value: z.number(), interval: intervalSchema.nullable(), n: z.int() })
  .nullable();

/** What a judge says of one claim. */
const rulingSchema = z.object({
  verdict: z.enum(VERDICTS),
  supported: z.boolean(),
  /** That it is supported, from 0 to 1; null for a judge that gives none. */
  chance: z.number().nullable(),
  reason: z.string(),
});
export type Ruling = z.infer<typeof rulingSchema>;

const biasSchema = z.object({
  towards: z.enum(['long', 'confident']),
  /** What makes a claim one of the kind, in words. */
  kind: z.string(),
  ofKind: estimateSchema,
  ofOthers: estimateSchema,
  difference: estimateSchema,
});

const judgeSchema = z.object({
  name: z.enum(JUDGES),
  description: z.string(),
  ruled: z.int(),
  agreement: estimateSchema,
  kappa: estimateSchema,
  precision: estimateSchema,
  recall: estimateSchema,
  balancedAccuracy: estimateSchema,
  /** The share of what people found supported that it calls unsupported. */
  falseAlarms: estimateSchema,
  bias: z.array(biasSchema),
  reliability: z
    .object({
      error: z.number(),
      bins: z.array(
        z.object({
          from: z.number(),
          to: z.number(),
          n: z.int(),
          said: z.number(),
          came: z.number(),
          interval: intervalSchema,
        }),
      ),
    })
    .nullable(),
  /** By label, then by verdict. */
  counts: z.record(z.string(), z.record(z.string(), z.int())),
  sources: z.array(
    z.object({ source: z.string(), n: z.int(), agreement: estimateSchema, kappa: estimateSchema }),
  ),
});
export type JudgeFigures = z.infer<typeof judgeSchema>;

export const calibrationDataSchema = z.object({
  format: z.literal(CALIBRATION_FORMAT),
  kind: z.literal('judges'),
  header: z.object({
    file: z.string(),
    labels: z.int(),
    byLabel: z.record(z.string(), z.int()),
    seed: z.int(),
    version: z.string(),
    model: z.string().nullable(),
    durationMs: z.number(),
  }),
  findings: z.array(z.string()),
  judges: z.array(judgeSchema),
  /** Each two judges, on the cases that both ruled on. */
  comparisons: z.array(
    z.object({
      first: z.enum(JUDGES),
      second: z.enum(JUDGES),
      kappa: estimateSchema,
      onlyFirstRight: z.int(),
      onlySecondRight: z.int(),
      /** Of McNemar's test that one agrees with people more than the other. */
      p: z.number(),
    }),
  ),
  cases: z.array(
    z.object({
      id: z.string(),
      source: z.string().nullable(),
      question: z.string().nullable(),
      claim: z.string(),
      label: z.enum(LABELS),
      rulings: z.partialRecord(z.enum(JUDGES), rulingSchema.nullable()),
      /** The judges that part from the person. */
      partFrom: z.array(z.enum(JUDGES)),
    }),
  ),
});
export type CalibrationData = z.infer<typeof calibrationDataSchema>;

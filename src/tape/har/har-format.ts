import * as z from 'zod';
import { chunkSchema, failureSchema } from '../tape-format.ts';

const pairs = z.array(z.object({ name: z.string(), value: z.string() })).default([]);

/** As much of HTTP Archive 1.2 as a tape needs. Fields that begin with `_` are ours, or Polly's. */
export const harSchema = z.object({
  log: z.object({
    creator: z
      .object({ name: z.string().default('unknown'), version: z.string().default('unknown') })
      .default({ name: 'unknown', version: 'unknown' }),
    _recordingName: z.string().optional(),
    /** The header and the outputs of the tape that it was made from. */
    _tape: z.object({ header: z.unknown(), outputs: z.unknown() }).optional(),
    entries: z.array(
      z.object({
        startedDateTime: z.string().optional(),
        time: z.number().nullish(),
        request: z.object({
          method: z.string(),
          url: z.string(),
          headers: pairs,
          postData: z
            .object({
              mimeType: z.string().default(''),
              text: z.string().optional(),
              encoding: z.string().optional(),
              params: z.array(z.object({ name: z.string(), value: z.string().default('') })).optional(),
            })
            .nullish(),
        }),
        response: z.object({
          status: z.number(),
          headers: pairs,
          content: z
            .object({
              mimeType: z.string().nullish(),
              text: z.string().nullish(),
              encoding: z.string().nullish(),
            })
            .default({}),
          /** What Chrome says of a request that failed. */
          _error: z.string().nullish(),
        }),
        _chunks: z.array(chunkSchema).optional(),
        _failure: failureSchema.optional(),
      }),
    ),
  }),
});
export type Har = z.infer<typeof harSchema>;
export type HarEntry = Har['log']['entries'][number];

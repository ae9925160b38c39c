import { getSystemErrorMessage } from 'node:util';
import * as z from 'zod';
import { advice, settingValue, viaCommand } from '../faults/advice.ts';
import { AppError, messageOf } from '../faults/app-error.ts';

/** 2 spread an exchange over many lines, 3 renamed fields of the outputs. All versions are read. */
export const TAPE_VERSION = 3;

export type TapeJson = string | number | boolean | null | TapeJson[] | { [key: string]: TapeJson };

/** An empty object for any other value. */
export function toJsonObject(value: TapeJson | undefined): { [key: string]: TapeJson } {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}

/** Any JSON. It is not validated in depth, which would take longer than parsing it. */
const jsonSchema = z.custom<TapeJson>((value) => value !== undefined);

/** A file has a multi-line text as a list of lines. */
const linesSchema = z.union([z.string(), z.array(z.string()).transform((lines) => lines.join('\n'))]);

/** A body in its most readable form: its JSON value, its text, or its bytes. */
const bodySchema = z.union([
  z.strictObject({ json: jsonSchema }),
  z.strictObject({ text: linesSchema }),
  z.strictObject({ base64: z.base64() }),
]);
export type TapeBody = z.infer<typeof bodySchema>;

export function bodyValue(body: TapeBody | undefined): TapeJson | undefined {
  return Object.values(body ?? {})[0] as TapeJson | undefined;
}

const event = z.string().optional();
const eventSchema = z.union([
  z.strictObject({ event, data: jsonSchema }).transform(({ data, ...rest }) => {
    return { ...rest, text: JSON.stringify(data) };
  }),
  z.strictObject({ event, text: z.string() }),
]);

const delayMs = z.number().min(0);

/** A piece of a streamed body, with the time since the piece before. A file has complete events as a list. */
export const tapeChunkSchema = z.union([
  z.strictObject({ delayMs, data: linesSchema }),
  z.strictObject({ delayMs, events: z.array(eventSchema) }).transform(({ events, ...rest }) => {
    const texts = events.map(
      ({ event, text }) => `${event === undefined ? '' : `event: ${event}\n`}data: ${text}\n\n`,
    );
    return { ...rest, data: texts.join('') };
  }),
]);
export type TapeChunk = z.infer<typeof tapeChunkSchema>;

const headersSchema = z.record(z.string(), z.string());

const requestSchema = z.object({
  method: z.string().regex(/^[A-Z]+$/),
  url: z.url({ protocol: /^https?$/ }),
  headers: headersSchema.default({}),
  body: bodySchema.optional(),
});
export type TapeRequest = z.infer<typeof requestSchema>;

const responseSchema = z.object({
  status: z.int().min(200).max(599),
  headers: headersSchema.default({}),
  /** A streamed body is in `chunks` instead. */
  body: bodySchema.optional(),
  chunks: z.array(tapeChunkSchema).optional(),
});
export type TapeResponse = z.infer<typeof responseSchema>;

/** Why a request has no response, or an incomplete one. */
export const tapeFailureSchema = z.object({
  /** `TypeError` for a network error, `AbortError` or `TimeoutError` for a request that the client ended. */
  name: z.string(),
  message: z.string(),
  /** Such as ECONNREFUSED. */
  code: z.string().optional(),
});
export type TapeFailure = z.infer<typeof tapeFailureSchema>;

const exchangeSchema = z
  .object({
    /** Numbers the requests from 1; by default the position in the file. */
    id: z.int().min(1).optional(),
    /** Since the start of the recording. */
    startedAtMs: z.number().min(0),
    /** Until the last byte of the response. */
    durationMs: z.number().min(0),
    request: requestSchema,
    response: responseSchema.optional(),
    failure: tapeFailureSchema.optional(),
  })
  .refine(({ response, failure }) => response !== undefined || failure !== undefined, {
    error: 'an exchange has a response, a failure or both',
  });
export type TapeExchange = z.infer<typeof exchangeSchema> & { id: number };

/** The fields before the exchanges. */
export const tapeHeaderSchema = z.object({
  version: z.literal([1, 2, TAPE_VERSION]),
  origin: z.enum(['recorded', 'written by hand']),
  /** For readers, such as the source of a tape written by hand. */
  note: z.string().optional(),
  madeBy: z.object({ program: z.string(), version: z.string(), node: z.string().optional() }),
  createdAt: z.iso.datetime(),
  /** The recording and its replays generate ids from it. */
  seed: z.string().min(1),
  model: z.string().nullable(),
  /** Null if the tape was not recorded by a command. */
  command: z.string().nullable(),
  inputs: z.record(z.string(), jsonSchema).default({}),
  /** The user's redaction patterns, as regular expressions. */
  redact: z.array(z.string()).default([]),
});
export type TapeHeader = z.infer<typeof tapeHeaderSchema>;

export const tapeSchema = tapeHeaderSchema.extend({
  exchanges: z.array(exchangeSchema).default([]),
  /** An interrupted recording has none of the following fields. */
  outputs: jsonSchema.optional(),
  complete: z.boolean().optional(),
  /** SHA-256 of the file before this field. It reveals that a recorded tape was edited. */
  digest: z.string().optional(),
});

/** An AppError is returned unchanged. */
export function toTapeFileError(action: 'read' | 'write', path: string, error: unknown): AppError {
  if (error instanceof AppError) return error;
  const { errno } = error as NodeJS.ErrnoException;
  const reason = errno === undefined ? messageOf(error) : getSystemErrorMessage(errno);
  return new AppError('invalid_input', `Cannot ${action} the tape ${path}: ${reason}.`, {
    hint:
      action === 'read'
        ? advice`Record one${settingValue('record', '<tape>', '')}.`
        : 'Record it again to another path. An existing tape is unchanged.',
    cause: error,
  });
}

export function notATapeError(path: string, reason: string): AppError {
  return new AppError('invalid_input', `${path} is not a tape: ${reason}.`, {
    hint: advice`Record one${settingValue('record', '<tape>', '')}, or convert a HAR file${viaCommand('tape import')}`,
  });
}

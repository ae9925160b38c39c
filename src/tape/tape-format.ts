import * as z from 'zod';
import { advice, command, settingOf } from '../faults/advice.ts';
import { AppError, messageOf } from '../faults/app-error.ts';

/** 2 spread an exchange over many lines, 3 renamed fields of the outputs. All versions are read. */
export const TAPE_VERSION = 3;

export type TapeJson = string | number | boolean | null | TapeJson[] | { [key: string]: TapeJson };

/** Whatever JSON.parse gave; to look through it once more would take longer than to read it. */
const json = z.custom<TapeJson>((value) => value !== undefined);

/** A body in the form that is easiest to read: its JSON value, its text, or its bytes. */
export type TapeBody = { json: TapeJson } | { text: string } | { base64: string };

/** A piece of a streamed body, and how long after the one before it came. */
export const chunkSchema = z.strictObject({ delayMs: z.number().min(0), data: z.string() });
export type TapeChunk = z.infer<typeof chunkSchema>;

/** In a file a text of several lines is a list of them, and a chunk of whole events is a list of these. */
const linesSchema = z.union([z.string(), z.array(z.string())]);
const writtenBodySchema = z.union([
  z.strictObject({ json: json }),
  z.strictObject({ text: linesSchema }),
  z.strictObject({ base64: z.base64() }),
]);
export type WrittenBody = z.infer<typeof writtenBodySchema>;

const eventSchema = z
  .strictObject({ event: z.string().optional(), data: json.optional(), text: z.string().optional() })
  .refine(({ data, text }) => (data === undefined) !== (text === undefined), {
    error: 'an event has data or a text',
  });
export type WrittenEvent = z.infer<typeof eventSchema>;

const writtenChunkSchema = z.union([
  z.strictObject({ delayMs: z.number().min(0), data: linesSchema }),
  z.strictObject({ delayMs: z.number().min(0), events: z.array(eventSchema) }),
]);
export type WrittenChunk = z.infer<typeof writtenChunkSchema>;

const headersSchema = z.record(z.string(), z.string());

const requestSchema = z.object({
  method: z.string().regex(/^[A-Z]+$/),
  url: z.url({ protocol: /^https?$/ }),
  headers: headersSchema.default({}),
  body: writtenBodySchema.optional(),
});
export type TapeRequest = Omit<z.infer<typeof requestSchema>, 'body'> & { body?: TapeBody | undefined };

const responseSchema = z.object({
  status: z.int().min(200).max(599),
  headers: headersSchema.default({}),
  /** A body in one piece; one that was streamed has `chunks` instead. */
  body: writtenBodySchema.optional(),
  chunks: z.array(writtenChunkSchema).optional(),
});
export type TapeResponse = Omit<z.infer<typeof responseSchema>, 'body' | 'chunks'> & {
  body?: TapeBody | undefined;
  chunks?: TapeChunk[] | undefined;
};

/** Why there was no answer, or no whole one. */
export const failureSchema = z.object({
  /** `TypeError` for the network, `AbortError` or `TimeoutError` where we gave up. */
  name: z.string(),
  message: z.string(),
  /** Of the network, such as ECONNREFUSED. */
  code: z.string().optional(),
});
export type TapeFailure = z.infer<typeof failureSchema>;

export const exchangeSchema = z
  .object({
    /** In the order in which the requests were made, from 1; its place in the file unless given. */
    id: z.int().min(1).optional(),
    /** Since the recording began. */
    startedAtMs: z.number().min(0),
    /** Until the last byte of the answer. */
    durationMs: z.number().min(0),
    /** Exchanges that ran at the same time are in different lanes. */
    lane: z.int().min(0),
    request: requestSchema,
    response: responseSchema.optional(),
    failure: failureSchema.optional(),
  })
  .refine(({ response, failure }) => response !== undefined || failure !== undefined, {
    error: 'an exchange has a response, a failure or both',
  });
export type WrittenExchange = z.infer<typeof exchangeSchema>;
export type TapeExchange = Omit<WrittenExchange, 'id' | 'request' | 'response'> & {
  id: number;
  request: TapeRequest;
  response?: TapeResponse | undefined;
};

const originSchema = z.enum(['recorded', 'written by hand']);

/** What stands before the exchanges: how the tape was made. */
export const headerSchema = z.object({
  version: z.literal([1, 2, TAPE_VERSION]),
  origin: originSchema,
  /** Where the wire format of one written by hand comes from, or whatever else a reader should know. */
  note: z.string().optional(),
  madeBy: z.object({ program: z.string(), version: z.string(), node: z.string().optional() }),
  createdAt: z.iso.datetime(),
  /** What ids under replay are made from; the recording made its own from it, too. */
  seed: z.string().min(1),
  model: z.string().nullable(),
  /** Null for a tape that no command has made. */
  command: z.string().nullable(),
  inputs: z.record(z.string(), json).default({}),
  /** Patterns of the user's that were removed, as regular expressions. */
  redact: z.array(z.string()).default([]),
});
export type TapeHeader = z.infer<typeof headerSchema>;

/** What stands after the exchanges. An interrupted recording has none of it. */
export const tailSchema = z.object({
  outputs: json.optional(),
  complete: z.boolean(),
  /** SHA-256 of all that stands before it; tells a recorded tape from an edited one. */
  digest: z.string().optional(),
});
export type TapeTail = z.infer<typeof tailSchema>;

const REASONS: Record<string, string> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota is used up',
  EACCES: 'access is denied',
  EPERM: 'access is denied',
  EROFS: 'the file system is read-only',
  ENOENT: 'its folder does not exist',
  ENOTDIR: 'its folder is a file',
  EISDIR: 'it is a folder',
  EFBIG: 'it is larger than files may be',
};

/** What kept a tape from being written. Whatever was there before is as it was. */
export function writeFault(path: string, error: unknown): AppError {
  if (error instanceof AppError) return error;
  const { code = '' } = error as NodeJS.ErrnoException;
  return new AppError(
    'invalid_input',
    `The tape ${path} cannot be written: ${REASONS[code] ?? messageOf(error)}.`,
    {
      hint: 'The run itself may have succeeded; record it again elsewhere. A tape that was there before is unchanged.',
      cause: error,
    },
  );
}

export function readFault(path: string, error: unknown): AppError {
  if (error instanceof AppError) return error;
  const { code = '' } = error as NodeJS.ErrnoException;
  const reason = code === 'ENOENT' ? 'it does not exist' : (REASONS[code] ?? messageOf(error));
  return new AppError('invalid_input', `The tape ${path} cannot be read: ${reason}.`, {
    hint: advice`Record one${settingOf('record', '<tape>', '')}.`,
    cause: error,
  });
}

export function notATape(path: string, why: string): AppError {
  return new AppError('invalid_input', `${path} is not a tape: ${why}.`, {
    hint: advice`Record one${settingOf('record', '<tape>', '')}, or convert a HAR file${command('tape import')}`,
  });
}

import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import { AppError } from '../../faults/app-error.ts';
import { tapeBody } from '../tape-exchange.ts';
import type { TapeChunk, TapeResponse } from '../tape-format.ts';

/** A small file may claim to hold very much. */
const MOST_BYTES = 256 * 1024 * 1024;
const BOUND = { maxOutputLength: MOST_BYTES };

const DECODERS: Record<string, (bytes: Buffer) => Buffer> = {
  gzip: (bytes) => gunzipSync(bytes, BOUND),
  'x-gzip': (bytes) => gunzipSync(bytes, BOUND),
  deflate: (bytes) => inflateSync(bytes, BOUND),
  br: (bytes) => brotliDecompressSync(bytes, BOUND),
  zstd: (bytes) => zstdDecompressSync(bytes, BOUND),
};

/** The bytes that a client reads; as they are if they are not compressed after all. Throws `invalid_input` for far too many. */
export function decompressed(bytes: Buffer, contentEncoding: string | undefined): Buffer {
  const decode = DECODERS[contentEncoding?.trim().toLowerCase() ?? ''];
  try {
    return decode === undefined ? bytes : decode(bytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_BUFFER_TOO_LARGE') return bytes;
    throw new AppError('invalid_input', 'A recorded answer is larger than 256 MB once it is decompressed.', {
      hint: 'Remove it from the recording.',
    });
  }
}

/** What a tape keeps of an answer. Other recordings do not tell when each event came: one chunk each, without delay. */
export function answerBody(bytes: Buffer, type: string | undefined): Pick<TapeResponse, 'body' | 'chunks'> {
  if (/^text\/event-stream/i.test(type ?? '')) return { chunks: eventsOf(bytes.toString('utf8')) };
  const body = tapeBody(bytes, type ?? null);
  return body ? { body } : {};
}

function eventsOf(text: string): TapeChunk[] {
  return text.split(/(?<=\r?\n\r?\n)/).map((data) => ({ delayMs: 0, data }));
}

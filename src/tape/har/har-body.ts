import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import type { HarEntry } from './har-format.ts';

type Content = HarEntry['response']['content'];

const DECODERS: Record<string, (bytes: Buffer) => Buffer> = {
  gzip: gunzipSync,
  'x-gzip': gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
};

/**
 * The bytes of an answer. Browsers keep the body as it was read; Polly keeps a compressed one as it came, as a list
 * of pieces in base64 or hex.
 */
export function harBody({ text, encoding }: Content, contentEncoding: string | undefined): Buffer {
  if (text === undefined || text === null) return Buffer.alloc(0);
  if (encoding !== 'base64' && encoding !== 'hex')
    return fromPieces(text, contentEncoding) ?? Buffer.from(text);
  const pieces = piecesOf(text);
  const bytes = Buffer.concat((pieces ?? [text]).map((piece) => Buffer.from(piece, encoding)));
  return decompressed(bytes, contentEncoding);
}

/** Older versions of Polly say nothing of how a compressed body is spelled. */
function fromPieces(text: string, contentEncoding: string | undefined): Buffer | null {
  const pieces = contentEncoding === undefined ? null : piecesOf(text);
  if (pieces === null || !pieces.every((piece) => /^[0-9a-f]+$/i.test(piece))) return null;
  return decompressed(Buffer.concat(pieces.map((piece) => Buffer.from(piece, 'hex'))), contentEncoding);
}

function piecesOf(text: string): string[] | null {
  if (!text.startsWith('["')) return null;
  try {
    const pieces: unknown = JSON.parse(text);
    return Array.isArray(pieces) && pieces.every((piece) => typeof piece === 'string') ? pieces : null;
  } catch {
    return null;
  }
}

/** As they are if they are not compressed after all. */
function decompressed(bytes: Buffer, contentEncoding: string | undefined): Buffer {
  const decode = DECODERS[contentEncoding?.trim().toLowerCase() ?? ''];
  try {
    return decode === undefined ? bytes : decode(bytes);
  } catch {
    return bytes;
  }
}

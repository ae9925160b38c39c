import type { Response } from 'undici';
import { AppError } from '../../domain/app-error.ts';

interface Bounds {
  maxBytes: number;
  truncate?: boolean;
}

/** Reads a body piece by piece and stops at the bound, whatever the headers promised. */
export async function readBody(response: Response, url: URL, bounds: Bounds): Promise<Uint8Array> {
  const { body } = response;
  if (body === null) return new Uint8Array();
  if (Number(response.headers.get('content-length')) > bounds.maxBytes && !bounds.truncate) {
    await body.cancel();
    throw tooLarge(url, bounds.maxBytes);
  }
  const pieces: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop early cancels the stream and with it the download.
  for await (const piece of body as AsyncIterable<Uint8Array>) {
    pieces.push(piece);
    size += piece.length;
    if (size <= bounds.maxBytes) continue;
    if (!bounds.truncate) throw tooLarge(url, bounds.maxBytes);
    break;
  }
  return new Uint8Array(Buffer.concat(pieces, Math.min(size, bounds.maxBytes)));
}

function tooLarge(url: URL, maxBytes: number): AppError {
  const limit = maxBytes < 1024 * 1024 ? `${maxBytes} bytes` : `${(maxBytes / 1024 / 1024).toFixed(1)} MB`;
  return new AppError('invalid_input', `${url.href} is too large: the limit is ${limit}.`);
}

import type { TapeBody, TapeJson } from './tape-format.ts';

/** More than a number of JavaScript holds: as JSON it would change. */
const LARGE_INTEGER = /(?<![\d.eE+-])-?\d{17,}(?![\d.eE])/;

/** Bytes in the form that is easiest to read; undefined if there are none. */
export function tapeBody(bytes: Uint8Array, contentType: string | null): TapeBody | undefined {
  if (bytes.length === 0) return undefined;
  const text = asText(bytes);
  return text === null ? { base64: Buffer.from(bytes).toString('base64') } : textBody(text, contentType);
}

export function textBody(text: string, contentType: string | null): TapeBody {
  if (!/json/i.test(contentType ?? '') && !/^\s*[{[]/.test(text)) return { text };
  try {
    if (!LARGE_INTEGER.test(text)) return { json: JSON.parse(text) as TapeJson };
  } catch {
    // A text, whatever its type says.
  }
  return { text };
}

export function bodyBytes(body: TapeBody): string | Buffer {
  if ('json' in body) return JSON.stringify(body.json);
  return 'text' in body ? body.text : Buffer.from(body.base64, 'base64');
}

function asText(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

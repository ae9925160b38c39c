import type { MediaType } from '../../domain/document.ts';

const BYTE_ORDER_MARK = '\ufeff';

/**
 * Text whose encoding only the `Content-Type` header knows, as UTF-8. The byte order mark in front overrules
 * what the document may say of its encoding, which is no longer true.
 */
export function asUtf8(bytes: Uint8Array, contentType: string, mediaType: MediaType): Uint8Array {
  const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(contentType)?.[1];
  if (charset === undefined || mediaType === 'pdf' || /^utf-?8$/i.test(charset)) return bytes;
  try {
    return new TextEncoder().encode(BYTE_ORDER_MARK + new TextDecoder(charset).decode(bytes));
  } catch {
    // An encoding that nobody knows: the bytes may still speak for themselves.
    return bytes;
  }
}

import { decodeAs, decodeText, encodingOfMark } from './decode-text.ts';

/** Decodes a page by its byte order mark, else by the charset it declares, else as UTF-8. */
export function decodeHtml(bytes: Uint8Array, name: string): string {
  const declared = encodingOfMark(bytes) === null ? declaredEncoding(bytes) : null;
  return declared === null ? decodeText(bytes, name) : decodeAs(declared, bytes, name);
}

/** The legacy charset of `<meta charset>` or `<meta http-equiv>` in the first kilobyte, by its standard name. */
function declaredEncoding(bytes: Uint8Array): string | null {
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, 1024));
  const label = /<meta\b[^>]*\bcharset\s*=\s*["']?\s*([\w-]+)/i.exec(head)?.[1];
  if (label === undefined) return null;
  try {
    const { encoding } = new TextDecoder(label);
    // The declaration could be read as ASCII, so a page that claims UTF-16 is not.
    return encoding.startsWith('utf-') ? null : encoding;
  } catch {
    return null;
  }
}

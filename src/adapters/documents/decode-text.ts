import { isUtf8 } from 'node:buffer';
import { AppError } from '../../faults/app-error.ts';
import { visibleText } from '../../text/visible-text.ts';

/** Decodes a text file to clean text: no byte order mark, LF line ends, no control characters. */
export function decodeText(bytes: Uint8Array, name: string): string {
  const encoding = detectBomEncoding(bytes) ?? 'utf-8';
  if (encoding === 'utf-8' && bytes.includes(0)) {
    throw new AppError('invalid_input', `${name} looks like a binary file`, {
      hint: 'Convert it to text or exclude it.',
    });
  }
  return decodeWithEncoding(encoding === 'utf-8' && isLatin1(bytes) ? 'windows-1252' : encoding, bytes, name);
}

/** Whether a text is not UTF-8, but mostly ASCII with other characters of Windows-1252, a superset of Latin-1. */
function isLatin1(bytes: Uint8Array): boolean {
  if (isUtf8(bytes)) return false;
  // Characters that UTF-8 encodes in several bytes mean damaged UTF-8.
  const isDamaged = /[^\u0000-\u007f\ufffd]/.test(new TextDecoder().decode(bytes));
  const text = Buffer.from(bytes).toString('latin1');
  const others = text.match(/[\u0080-\u00ff]/g)?.length ?? 0;
  return !isDamaged && others * 2 < text.length && !/[\u0000-\u0008\u000e-\u001a\u007f]/.test(text);
}

/** Decodes with an encoding that the document declares. Throws `invalid_input` for invalid bytes. */
export function decodeWithEncoding(encoding: string, bytes: Uint8Array, name: string): string {
  try {
    return cleanText(new TextDecoder(encoding, { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new AppError('invalid_input', `${name} is not valid ${encoding.toUpperCase()}`, {
      hint: 'Convert it first, for example: iconv -f WINDOWS-1252 -t UTF-8 <file>.',
      cause,
    });
  }
}

/** The encoding of a byte order mark; null without one. */
export function detectBomEncoding(bytes: Uint8Array): string | null {
  const [first, second, third] = bytes;
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  return null;
}

/** Normalizes line ends to LF and removes control characters. */
export function cleanText(text: string): string {
  return visibleText(text.replace(/\r\n?/g, '\n'));
}

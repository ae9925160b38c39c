import { AppError, messageOf } from '../../faults/app-error.ts';
import { visibleText } from '../../text/visible-text.ts';

/** The bytes of a text format as clean text: no byte order mark, LF line ends, no control characters. */
export function decodeText(bytes: Uint8Array, name: string): string {
  const encoding = encodingOfMark(bytes) ?? 'utf-8';
  if (encoding === 'utf-8' && bytes.includes(0)) {
    throw new AppError('invalid_input', `${name} looks like a binary file`, {
      hint: 'Give a text document, or leave this file out.',
    });
  }
  return decodeAs(encoding, bytes, name);
}

/** Decodes strictly by an encoding that the document has named. Throws `invalid_input` where the bytes do not fit it. */
export function decodeAs(encoding: string, bytes: Uint8Array, name: string): string {
  try {
    return cleanText(new TextDecoder(encoding, { fatal: true }).decode(bytes));
  } catch (cause) {
    const place = encoding === 'utf-8' ? ` (byte ${firstInvalidByte(bytes)})` : '';
    throw new AppError('invalid_input', `${name} is not valid ${encoding.toUpperCase()}${place}`, {
      hint: 'Convert it first, for example: iconv -f WINDOWS-1252 -t UTF-8 <file>.',
      cause,
    });
  }
}

/** The encoding that a byte order mark announces. */
export function encodingOfMark(bytes: Uint8Array): string | null {
  const [first, second, third] = bytes;
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  return null;
}

/** LF line ends, and nothing that a terminal would act on. */
export function cleanText(text: string): string {
  return visibleText(text.replace(/\r\n?/g, '\n'));
}

/** The offset of the first byte that strict UTF-8 refuses: where decoding had to put a replacement character. */
function firstInvalidByte(bytes: Uint8Array): number {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  let offset = 0;
  let from = 0;
  for (const { index } of text.matchAll(/\ufffd/g)) {
    offset += Buffer.byteLength(text.slice(from, index));
    const isWritten = bytes[offset] === 0xef && bytes[offset + 1] === 0xbf && bytes[offset + 2] === 0xbd;
    if (!isWritten) return offset;
    offset += 3;
    from = index + 1;
  }
  return offset;
}

/**
 * A damaged file as one sentence. What was said of it already stays as it is, and so does a full stack, which
 * means that the document is nested too deeply.
 */
export function brokenDocument(name: string, format: string, cause: unknown, hint: string): Error {
  if (cause instanceof AppError || cause instanceof RangeError) return cause;
  const reason = messageOf(cause).split('\n', 1)[0]?.trim() ?? '';
  return new AppError('invalid_input', `${name} cannot be read as ${format}: ${reason}`, { hint, cause });
}

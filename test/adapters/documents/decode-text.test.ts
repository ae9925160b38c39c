import { expect, test } from 'vitest';
import { decodeText } from '../../../src/adapters/documents/decode-text.ts';

const invalid = (message: string | RegExp) =>
  expect.objectContaining({
    name: 'AppError',
    kind: 'invalid_input',
    message: expect.stringMatching(message),
  });

test('decodes and removes byte order marks of UTF-8 and UTF-16', () => {
  expect(decodeText(Buffer.from('\ufeffaß'), 'x')).toBe('aß');
  expect(decodeText(Buffer.from('\ufeffaß', 'utf16le'), 'x')).toBe('aß');
  expect(decodeText(Buffer.from('\ufeffaß', 'utf16le').swap16(), 'x')).toBe('aß');
});

test('normalizes line ends and removes control characters and terminal escapes', () => {
  expect(decodeText(Buffer.from('a\r\nb\rc\td\u0007\u001b[0m\u007f'), 'x')).toBe('a\nb\nc\td');
});

test('rejects a binary file', () => {
  expect(() => decodeText(Uint8Array.of(0x7f, 0x45, 0, 1), 'a.txt')).toThrow(
    invalid(/^a\.txt looks like a binary file$/),
  );
});

test('decodes Latin-1 and Windows-1252', () => {
  expect(decodeText(Buffer.from('Café crème', 'latin1'), 'x')).toBe('Café crème');
  expect(decodeText(Uint8Array.of(0x33, 0x20, 0x80, 0x0a), 'x')).toBe('3 €\n');
});

test('rejects bytes that no text has', () => {
  expect(() => decodeText(Uint8Array.of(0xe9, 0x01, 0xff), 'a.txt')).toThrow(invalid(/not valid UTF-8/));
});

test('rejects damaged UTF-8 with a hint', () => {
  const bytes = Buffer.concat([Buffer.from('né \ufffd '), Uint8Array.of(0xe9, 0x20)]);
  expect(() => decodeText(bytes, 'a.txt')).toThrow(invalid(/^a\.txt is not valid UTF-8$/));
  expect(() => decodeText(bytes, 'a.txt')).toThrow(
    expect.objectContaining({ hint: expect.stringContaining('iconv') }),
  );
});

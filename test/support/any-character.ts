import fc from 'fast-check';

const SURROGATES = { first: 0xd800, count: 0x800 };
const LAST_CODE_POINT = 0x10ffff;

/**
 * Any code point except surrogates, for `fc.string({ unit: anyCharacter })`. fast-check's own `unit: 'binary'` enumerates
 * all code points first, which takes more than a second.
 */
export const anyCharacter = fc
  .nat({ max: LAST_CODE_POINT - SURROGATES.count })
  .map((index) => String.fromCodePoint(index < SURROGATES.first ? index : index + SURROGATES.count), indexOf);

function indexOf(character: unknown): number {
  if (typeof character !== 'string') throw new Error('Not a string.');
  const code = character.codePointAt(0) ?? 0;
  if (character !== String.fromCodePoint(code)) throw new Error('Not a single character.');
  return code < SURROGATES.first ? code : code - SURROGATES.count;
}

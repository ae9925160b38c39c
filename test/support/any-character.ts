import fc from 'fast-check';

const HALVES = { first: 0xd800, count: 0x800 };
const LAST = 0x10ffff;

/**
 * For strings of any characters but halves of one, as `unit: 'binary'` makes them; that has to go through all the
 * million there are before its first string, which takes more than a second.
 */
export const anyCharacter = fc
  .nat({ max: LAST - HALVES.count })
  .map((index) => String.fromCodePoint(index < HALVES.first ? index : index + HALVES.count), indexOf);

function indexOf(character: unknown): number {
  if (typeof character !== 'string') throw new Error('This is no character.');
  const code = character.codePointAt(0) ?? 0;
  if (character !== String.fromCodePoint(code)) throw new Error('This is not one character.');
  return code < HALVES.first ? code : code - HALVES.count;
}

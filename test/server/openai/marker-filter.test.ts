import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createMarkerFilter } from '../../../src/server/openai/marker-filter.ts';

const filtered = (...pieces: string[]) => {
  const filter = createMarkerFilter((ref) => ref >= 1 && ref <= 3);
  return pieces.map((piece) => filter.push(piece)).join('') + filter.end();
};

const CASES: [string, string, string][] = [
  ['a known marker stays', 'It is so. [1]', 'It is so. [1]'],
  ['an unknown one goes', 'It is so. [4] Yes.', 'It is so.  Yes.'],
  ['one of several known ones keeps the marker', 'It is so. [1, 4]', 'It is so. [1, 4]'],
  ['an index stays', 'Take rows[0] and a[7].', 'Take rows[0] and a[7].'],
  ['code stays', 'Write `x = [9]` here.', 'Write `x = [9]` here.'],
  ['a code block stays', '```\n[9]\n```\nand [9]', '```\n[9]\n```\nand '],
  ['a link stays', 'See [here](https://x.example).', 'See [here](https://x.example).'],
  ['an open bracket at the end stays', 'It is so [4', 'It is so [4'],
];
for (const [name, given, wanted] of CASES) {
  test(`${name}`, () => {
    expect(filtered(given)).toBe(wanted);
    expect(filtered(...given)).toBe(wanted);
  });
}

const piece = fc.oneof(
  fc.string(),
  fc.constantFrom('[1]', '[9]', '[', ']', '`', ' [2, 8] ', 'rows[4]', '.\n'),
);

test('returns the same text however it is split', () => {
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      // A bracket that stays open is given up sooner or later, depending on when more comes.
      fc.pre(!/\[[^\]]{30,}/.test(pieces.join('')));
      expect(filtered(...pieces)).toBe(filtered(pieces.join('')));
    }),
  );
});

test('passes text without brackets at once', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      fc.pre(!text.includes('['));
      expect(createMarkerFilter(() => false).push(text)).toBe(text);
    }),
  );
});

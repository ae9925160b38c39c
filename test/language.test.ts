import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** Metaphors and phrases that make readers guess. Use the field's own terms instead. */
const UNCLEAR_PHRASES = [
  /\b(?:whoever|whosoever|whatsoever)\b/i,
  /\bwhat (?:there is|became|comes of|came of)\b/i,
  /\b(?:that|what) was asked for\b/i,
  /\b(?:of one's own|of its own|of their own|for ever|as it stands|as many again)\b/i,
  /\b(?:bears?|bore|borne) (?:it |them )?out\b|\bunborne\b|\bborneOut/i,
  /\b(?:lends?|lent|mends?|mended|mending)\b/i,
  /\b(?:told|tells? of|tells? apart)\b/i,
  /\b(?:the house|rooms?|doors?)\b/i,
  /\bparts? (?:from|company)\b|\bparted\b/i,
  /\b(?:for want of|all the same|be had|thereof|let go)\b/i,
  /\b(?:is|are) to be\b/i,
];

const SOURCES = ['src/**/*.{ts,tsx}', 'docs/*.md', 'decisions/*.md', 'README.md', 'CONTRIBUTING.md'];

function findUnclearPhrases(file: string): string[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line, index) => {
      const phrase = UNCLEAR_PHRASES.map((pattern) => pattern.exec(line)?.[0]).find(
        (found) => found !== undefined,
      );
      return phrase === undefined ? [] : [`${file}:${index + 1}: "${phrase}"`];
    });
}

/** Has the field names of earlier versions. */
const MIGRATIONS = 'src/domain/migrate-record.ts';

test('sources and docs avoid unclear phrases', () => {
  expect(globSync(SOURCES, { exclude: [MIGRATIONS] }).flatMap(findUnclearPhrases)).toEqual([]);
});

import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Terminal } from '../../../src/cli/terminal/terminal.ts';
import { wrapPieces } from '../../../src/cli/terminal/wrap-text.ts';

function terminal(width: number, interactive = true): Terminal {
  return {
    width,
    interactive,
    colours: false,
    write: () => {},
    status: () => {},
    text: (text) => text,
    link: (_, text) => text,
  };
}

const PIECES = [{ text: '[1]' }, { text: 'ROS 2 Overview › Workspaces' }, { text: '0.70', gap: '  ' }];

test('keeps pieces that fit on one line', () => {
  expect(wrapPieces(terminal(80), PIECES)).toBe('[1] ROS 2 Overview › Workspaces  0.70');
});

test('continues below with an indent, without breaking words', () => {
  expect(wrapPieces(terminal(20), PIECES)).toBe('[1] ROS 2 Overview ›\n    Workspaces  0.70');
});

test('does not wrap in a pipe', () => {
  expect(wrapPieces(terminal(20, false), PIECES)).not.toContain('\n');
});

test('paints each line of a piece separately', () => {
  const painted = wrapPieces(
    terminal(12),
    [{ text: 'one two three four', paint: (text) => `<${text}>` }],
    '  ',
  );
  expect(painted).toBe('<one two>\n  <three four>');
});

test('keeps all words in order, and exceeds the width only where no break is possible', () => {
  const word = fc.stringMatching(/^[a-z]{1,12}$/);
  const piece = fc.array(word, { minLength: 1, maxLength: 6 }).map((words) => ({ text: words.join(' ') }));
  fc.assert(
    fc.property(
      fc.array(piece, { minLength: 1, maxLength: 5 }),
      fc.integer({ min: 8, max: 40 }),
      (pieces, width) => {
        const shown = stripVTControlCharacters(wrapPieces(terminal(width), pieces));
        const words = pieces.flatMap(({ text }) => text.split(' '));
        expect(shown.split(/\s+/).filter(Boolean)).toEqual(words);
        for (const line of shown.split('\n')) {
          // A break would not move the word to the left.
          const nothingToGain = line.lastIndexOf(' ') + 1 <= '    '.length + 1;
          expect(line.length <= width || nothingToGain).toBe(true);
        }
      },
    ),
  );
});

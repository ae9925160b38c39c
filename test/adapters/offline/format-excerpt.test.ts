import { expect, test } from 'vitest';
import { formatExcerpt, formatPassage } from '../../../src/adapters/offline/format-excerpt.ts';
import { findMarkers } from '../../../src/citations/find-markers.ts';
import { splitPassageUnits } from '../../../src/text/passage-units.ts';

const passageOf = (text: string) => ({ ref: '3', title: 'Guide', headings: ['Setup'], text, score: 1 });

/** What is told around the first unit that has some words. */
function told(text: string, words: string, maxWords = 120): string {
  const unit = splitPassageUnits(text).find(({ start, end }) => text.slice(start, end).includes(words));
  if (unit === undefined) throw new Error(`no unit has ${words}`);
  return formatExcerpt(passageOf(text), unit, maxWords);
}

test('quotes code below its cited introduction', () => {
  const text = 'Robots move.\n\nStart it:\n\n```sh\ngz sim\n```\n\nThen wait.';
  expect(told(text, 'gz sim')).toBe(
    'Robots move. [3]\n\nStart it: [3]\n\n```sh\ngz sim\n```\n\nThen wait. [3]',
  );
});

test('quotes as much around the unit as fits', () => {
  const text = 'One two three four five.\n\nSix seven eight.\n\nNine ten eleven twelve.';
  expect(told(text, 'Six', 7)).toBe('Six seven eight. [3]\n\nNine ten eleven twelve. [3]');
});

test('omits an introduction without the part it introduces', () => {
  const text = 'Start it:\n\n```sh\ngz sim\n```\n\nOr, with a world:';
  expect(told(text, 'gz sim')).toBe('Start it: [3]\n\n```sh\ngz sim\n```');
  expect(told('Or, with a world:', 'world')).toBe('Or, with a world: [3]');
});

test('formats rows as a table, steps as a list, and addresses as code', () => {
  const table = '| Bus | Rate |\n| --- | --- |\n| CAN | 1 Mbit/s |\n| SPI | 10 Mbit/s |';
  expect(told(table, 'SPI')).toBe(`${table}\n\n[3]`);
  expect(told('1. Stop it.\n2. See https://a.test/b now.', 'Stop')).toBe(
    '1. Stop it. [3]\n2. See `https://a.test/b` now. [3]',
  );
});

test.each([
  // A lone backtick and the next one would be the ends of code, with the mark of the sentence in it.
  [
    'Press ` to open it. See https://a.test/b now.',
    'Press \\` to open it. [3] See `https://a.test/b` now. [3]',
  ],
  ['Run `curl https://a.test/b` first. Then wait.', 'Run `curl https://a.test/b` first. [3] Then wait. [3]'],
  [
    'Open http://[::1]. Or http://[::1]:80/x now.',
    'Open `http://[::1]`. [3] Or `http://[::1]:80/x` now. [3]',
  ],
])('puts no marker inside code: %s', (text, expected) => {
  expect(told(text, text.slice(0, 5))).toBe(expected);
  expect(findMarkers(expected)).toHaveLength(2);
});

test('formats a whole passage below its title and headings', () => {
  expect(formatPassage(passageOf('It moves. It stops.'))).toBe(
    '### Guide › Setup\n\nIt moves. It stops. [3]',
  );
});

test('writes words as code that Markdown would change', () => {
  const prose = (text: string) => told(text, text.slice(0, 5));
  expect(prose('Call my_func(*args, **kwargs), _private_ or __init__() in /etc/*.')).toBe(
    'Call `my_func(*args`, `**kwargs`), `_private_` or `__init__()` in `/etc/*`. [3]',
  );
  expect(prose('Read arr[1] and m[0][2], as note [2] says [^1].')).toBe(
    'Read `arr[1]` and `m[0][2]`, as note `[2]` says `[^1]`. [3]',
  );
  expect(prose('Only *.example.com, not sub.*.example.com, ~~x~~ or <div>.')).toBe(
    'Only `*.example.com`, not `sub.*.example.com`, `~~x~~` or `<div>`. [3]',
  );
  const plain = 'Multiply 3 * 4 in snake_case, e.g. a < b & c.';
  expect(prose(plain)).toBe(`${plain} [3]`);
});

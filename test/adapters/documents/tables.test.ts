import { expect, test } from 'vitest';
import { blocksOf, parseSource } from './parse-source.ts';

test.each([
  ['commas', 'Name,Price\nSeal,"12,50"\nValve,"3\nlines"\n'],
  ['semicolons', 'Name;Price\r\nSeal;12,50\r\nValve;3 lines\r\n'],
  ['tabs', 'Name\tPrice\nSeal\t12,50\nValve\t3 lines'],
])('parses values separated by %s as a table', async (_, source) => {
  expect((await parseSource('csv', source)).text).toBe(
    '| Name | Price |\n| --- | --- |\n| Seal | 12,50 |\n| Valve | 3 lines |',
  );
});

test('numbers rows like a spreadsheet, including blank ones', async () => {
  const { blocks } = await parseSource('csv', 'a,b\n1,2\n\n3,4\n5,6\n');
  expect(blocks.map(({ location }) => location)).toEqual([
    { unit: 'row', from: 2, to: 2 },
    { unit: 'row', from: 4, to: 5 },
  ]);
});

test('writes long rows as records', async () => {
  const answer = 'word '.repeat(100).trim();
  const document = await parseSource('csv', `question,answer,note\nWhy?,${answer},\n`);
  expect(blocksOf(document)).toEqual([['paragraph', 0, `question: Why?\nanswer: ${answer}`]]);
});

test('keeps an unclosed quote and a row without a header', async () => {
  expect((await parseSource('csv', 'a,b\n1,"2\n3,4\n')).text).toContain('2 3,4');
  expect((await parseSource('csv', 'only,header\n')).text).toBe('only header');
});

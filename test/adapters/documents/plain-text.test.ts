import { expect, test } from 'vitest';
import { blocksOf, parseSource } from './parse-source.ts';

test('splits paragraphs at blank lines and creates no headings', async () => {
  const document = await parseSource('text', '\n# One  \r\n  two\r\n\r\n \t\r\nThree\n===\n\n\n');
  expect(blocksOf(document)).toEqual([
    ['paragraph', 0, '# One\n  two'],
    ['paragraph', 0, 'Three\n==='],
  ]);
  expect(document.title).toBeNull();
});

test('an empty document has no blocks', async () => {
  expect(await parseSource('text', ' \n\n')).toEqual({ title: null, metadata: {}, text: '', blocks: [] });
});

import type { Nodes, Root } from 'hast';
import { sanitize } from 'hast-util-sanitize';
import { toHast } from 'mdast-util-to-hast';
import remarkParse from 'remark-parse';
import { unified } from 'unified';
import { visit } from 'unist-util-visit';
import { expect, test } from 'vitest';
import { markWords, UNBORNE } from '../../../src/web/chat/mark-words.ts';

/** The text of a page with what is underlined in braces. */
function shown(markdown: string, ...words: string[]): string {
  const tree = sanitize(toHast(unified().use(remarkParse).parse(markdown)) as Nodes) as Root;
  const ranges = words.map((word) => ({
    start: markdown.indexOf(word),
    end: markdown.indexOf(word) + word.length,
  }));
  markWords(tree, markdown, ranges, UNBORNE);
  let text = '';
  visit(tree, (node, _index, parent) => {
    if (node.type !== 'text') return;
    const isMarked = parent?.type === 'element' && parent.tagName === 'u';
    text += isMarked ? `{${node.value}}` : node.value;
  });
  return text;
}

test('words are underlined where they stand, and nothing of the text is lost', () => {
  expect(shown('Gnus live in Heidelberg and Rome [1].', 'Heidelberg', 'Rome')).toBe(
    'Gnus live in {Heidelberg} and {Rome} [1].',
  );
  expect(shown('Nothing is doubted.')).toBe('Nothing is doubted.');
});

test('emphasis, links, lists and code around or inside of words do not shift them', () => {
  expect(shown('Gnus **live in Heidelberg** and `run --fast` there.', 'Heidelberg', 'fast')).toBe(
    'Gnus live in {Heidelberg} and run --{fast} there.',
  );
  expect(shown('- one\n- [a gnu of Rome](https://a.test)', 'Rome')).toContain('a gnu of {Rome}');
  expect(shown('A *Heidel*berg gnu.', 'Heidel*berg')).toBe('A {Heidel}{berg} gnu.');
});

test('what is written with escapes is shown without a mark rather than with one in the wrong place', () => {
  expect(shown('Cats &amp; dogs of Rome.', 'Rome')).toBe('Cats & dogs of Rome.');
});

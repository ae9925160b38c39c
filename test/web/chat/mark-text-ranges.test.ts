import type { Nodes, Root } from 'hast';
import { sanitize } from 'hast-util-sanitize';
import { toHast } from 'mdast-util-to-hast';
import remarkParse from 'remark-parse';
import { unified } from 'unified';
import { visit } from 'unist-util-visit';
import { expect, test } from 'vitest';
import { markTextRanges, UNSUPPORTED_MARK } from '../../../src/web/chat/mark-text-ranges.ts';

/** The rendered text, with marked text in braces. */
function renderMarked(markdown: string, ...words: string[]): string {
  const tree = sanitize(toHast(unified().use(remarkParse).parse(markdown)) as Nodes) as Root;
  const ranges = words.map((word) => ({
    start: markdown.indexOf(word),
    end: markdown.indexOf(word) + word.length,
  }));
  markTextRanges(tree, markdown, ranges, UNSUPPORTED_MARK);
  let text = '';
  visit(tree, (node, _index, parent) => {
    if (node.type !== 'text') return;
    const isMarked = parent?.type === 'element' && parent.tagName === 'u';
    text += isMarked ? `{${node.value}}` : node.value;
  });
  return text;
}

test('marks words and keeps the rest of the text', () => {
  expect(renderMarked('Gnus live in Heidelberg and Rome [1].', 'Heidelberg', 'Rome')).toBe(
    'Gnus live in {Heidelberg} and {Rome} [1].',
  );
  expect(renderMarked('Nothing is doubted.')).toBe('Nothing is doubted.');
});

test('marks words inside and across emphasis, links, lists and code', () => {
  expect(renderMarked('Gnus **live in Heidelberg** and `run --fast` there.', 'Heidelberg', 'fast')).toBe(
    'Gnus live in {Heidelberg} and run --{fast} there.',
  );
  expect(renderMarked('- one\n- [a gnu of Rome](https://a.test)', 'Rome')).toContain('a gnu of {Rome}');
  expect(renderMarked('A *Heidel*berg gnu.', 'Heidel*berg')).toBe('A {Heidel}{berg} gnu.');
});

test('does not mark text that contains entities', () => {
  expect(renderMarked('Cats &amp; dogs of Rome.', 'Rome')).toBe('Cats & dogs of Rome.');
});

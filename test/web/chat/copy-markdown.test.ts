/// <reference lib="dom" />
/// <reference lib="dom.asynciterable" />
import remarkParse from 'remark-parse';
import { unified } from 'unified';
import { visit } from 'unist-util-visit';
import { expect, test } from 'vitest';
import type { Citation } from '../../../src/domain/citation.ts';
import { createChatTurn } from '../../../src/web/chat/chat-turn.ts';
import { formatTurnAsMarkdown } from '../../../src/web/chat/copy-markdown.ts';

function citation(title: string, url: string, more: Partial<Citation> = {}): Citation {
  return {
    marker: '1',
    title,
    url,
    score: 1,
    excerpt: '',
    module: null,
    chunkId: 'c',
    verdict: 'unsupported',
    ...more,
  };
}

test('formats the question, the answer and its sources, of which flagged ones are named', () => {
  const citations = [
    citation('Zebras', 'https://zoo.example/z'),
    citation('', '', { marker: '2', chunkId: null, verdict: 'unknown_source' }),
  ];
  expect(
    formatTurnAsMarkdown({ ...createChatTurn('What is\na zebra?'), text: 'A horse. [1]\n', citations }),
  ).toBe(
    '## What is a zebra?\n\nA horse. [1]\n\nSources:\n- [1] [Zebras](<https://zoo.example/z>), unsupported',
  );
});

test('formats each source as one link to its URL, whatever its title and URL contain', () => {
  const titles = ['a](javascript:x) [b', '<img onerror=x>', '`code`](x)', 'a\n\n# b', '*a* \\'];
  const urls = [
    'https://zoo.example/a>b',
    'file:///a b',
    'https://zoo.example/\\>(x)',
    'https://zoo.example/a\nb',
  ];
  for (const title of titles) {
    for (const url of urls) {
      const text = formatTurnAsMarkdown({
        ...createChatTurn('Why?'),
        text: 'So.',
        citations: [citation(title, url)],
      });
      const links: string[] = [];
      visit(unified().use(remarkParse).parse(text), (node) => {
        if (node.type === 'link') links.push(node.url);
        expect(['image', 'html']).not.toContain(node.type);
      });
      expect(links).toEqual([url.replace(/[\s<>\\]/g, encodeURIComponent)]);
    }
  }
});

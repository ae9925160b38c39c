import fc from 'fast-check';
import remarkParse from 'remark-parse';
import { unified } from 'unified';
import { visit } from 'unist-util-visit';
import { expect, test } from 'vitest';
import {
  citationSchema,
  createUnknownCitation,
  formatCitation,
  isPassedCitation,
  toCitableSource,
  toCitation,
} from '../../src/domain/citation.ts';
import { anyCharacter } from '../support/any-character.ts';
import { chunk } from './arbitraries.ts';

function linksIn(markdown: string): string[] {
  const links: string[] = [];
  visit(unified().use(remarkParse).parse(markdown), ['link', 'image', 'html', 'linkReference'], (node) => {
    links.push('url' in node ? String(node.url) : node.type);
  });
  return links;
}

test('formats a citation as a link to its source', () => {
  expect(formatCitation({ title: 'Functions (basics)', url: 'https://a.test/x' })).toBe(
    '[Source: Functions (basics)](https://a.test/x)',
  );
  expect(formatCitation({ title: '', url: 'https://a.test/x' })).toBe(
    '[Source: https://a.test/x](https://a.test/x)',
  );
});

test('a title cannot forge a link, with or without support for escapes', () => {
  const line = formatCitation({ title: 'a](https://evil.test) [b', url: 'https://a.test/(x)' });
  expect(linksIn(line)).toEqual(['https://a.test/%28x%29']);
  expect(line.match(/\]\(/g)).toHaveLength(1);
});

test('formats exactly one link for any title and URL', () => {
  const nasty = fc
    .array(
      fc.oneof(
        fc.string(),
        fc.constantFrom(
          '](',
          '](https://evil.test)',
          '![',
          '`',
          '<https://evil.test>',
          '\\',
          '\n\n',
          '[x]: y',
          '&#93;(',
        ),
      ),
    )
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(nasty, nasty, (title, path) => {
      const line = formatCitation({ title, url: `https://a.test/${path}` });
      const links = linksIn(`See ${line}`);
      expect(links).toHaveLength(1);
      expect(links[0]).toMatch(/^https:\/\/a\.test\//);
      expect(line.match(/\]\(/g)).toHaveLength(1);
      expect(line).not.toContain('\n');
    }),
  );
});

test('an excerpt is a part of the chunk of at most 200 characters', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, maxLength: 400 }), (text) => {
      const { excerpt } = toCitableSource(chunk({ text }), '1');
      expect(excerpt.length).toBeLessThanOrEqual(200);
      expect(text).toContain(excerpt);
      expect(excerpt.isWellFormed()).toBe(true);
    }),
  );
});

test('a citation of an unknown source has no chunk', () => {
  expect(citationSchema.parse(createUnknownCitation('9'))).toMatchObject({
    verdict: 'unknown_source',
    chunkId: null,
  });
});

test('only a supported citation has passed', () => {
  const citable = toCitableSource(chunk(), '1');
  expect(isPassedCitation(toCitation(citable, 'supported'))).toBe(true);
  expect(isPassedCitation(toCitation(citable, 'unsupported'))).toBe(false);
  expect(isPassedCitation(createUnknownCitation('9'))).toBe(false);
});

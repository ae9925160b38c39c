import { expect, test } from 'vitest';
import type { StoreHit } from '../../src/ports/chunk-store.ts';
import { isReleaseNotes, letGuidesFirst } from '../../src/retrieval/release-notes.ts';
import { chunk } from '../domain/arbitraries.ts';

const place = (url: string, title = 'Some title', headings: string[] = []) => ({ url, title, headings });

test.each([
  place('release-notes.md'),
  place('docs/CHANGELOG.md'),
  place('https://acme.example/changelog/2024-06.html'),
  place('acme-changelog-2.1.txt'),
  place('whatsnew/v2.0.0.rst'),
  place('a.md', 'Release Notes'),
  place('a.md', "What's new in Acme 3.2"),
  place('a.md', 'Acme Changelog'),
  place('HISTORY.md', 'History', ['2.31.0 (2023-05-22)']),
  place('news.md', 'News', ['Unreleased', 'Fixes']),
])('release notes are told by path, title or headings: $url, $title', (notes) => {
  expect(isReleaseNotes(notes)).toBe(true);
});

test.each([
  place('users/releases.rst', 'Releases', ['How often']),
  place('tutorial/history.md', 'A history of routing', ['Early days']),
  place('guides/write-a-changelog.md', 'How to write a changelog'),
  place('git/changes.md', 'Look at your changes', ['Staged']),
  place('deploy/release-process.md', 'Make a release'),
])('a guide stays a guide: $url, $title', (guide) => {
  expect(isReleaseNotes(guide)).toBe(false);
});

const hit = (url: string, fusedScore: number): StoreHit => ({
  chunk: chunk({ chunkId: url, url }),
  score: fusedScore,
  fusedScore,
  lexical: null,
  dense: null,
});
const HITS = [hit('release-notes.md', 0.6), hit('guide.md', 0.55), hit('other.md', 0.3)];
const orderFor = (query: string) => letGuidesFirst(query, HITS).map(({ chunk: { url } }) => url);

test('release notes come after a guide that is nearly as good, and before what is far off', () => {
  expect(orderFor('how do I set a timeout?')).toEqual(['guide.md', 'release-notes.md', 'other.md']);
});

test.each([
  'what changed in timeouts?',
  'is the timeout option deprecated',
  'new in 2.1',
  'which release added timeouts?',
  'timeouts after I upgraded',
])('whoever asks for what changed gets it as it was found: %s', (query) => {
  expect(orderFor(query)).toEqual(['release-notes.md', 'guide.md', 'other.md']);
});

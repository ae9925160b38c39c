import { expect, test } from 'vitest';
import {
  matchesSource,
  toExpectedSource,
  toFileName,
} from '../../../src/evaluation/cases/expected-source.ts';

const NODES = 'file:///home/me/book/ros2/01%20nodes.md';

test('matches the end of a path by whole segments', () => {
  expect(matchesSource('ros2/01 nodes.md', NODES)).toBe(true);
  expect(matchesSource('01 nodes.md', NODES)).toBe(true);
  expect(matchesSource('./ros2/01 nodes.md', NODES)).toBe(true);
  expect(matchesSource('nodes.md', NODES)).toBe(false);
  expect(matchesSource('ros/01 nodes.md', NODES)).toBe(false);
  expect(matchesSource('Ros2/01 nodes.md', NODES)).toBe(false);
  expect(matchesSource('/', NODES)).toBe(false);
});

test('matches the path of a URL and ignores query and fragment', () => {
  expect(matchesSource('guide/setup', 'https://docs.example/guide/setup?lang=en#top')).toBe(true);
  expect(matchesSource('docs.example', 'https://docs.example/guide')).toBe(false);
});

test('matches a whole URL except for fragment and trailing slash', () => {
  expect(matchesSource('https://docs.example/guide', 'https://docs.example/guide/#top')).toBe(true);
  expect(matchesSource('https://docs.example/guide', 'https://docs.example/guide?page=2')).toBe(false);
  expect(matchesSource('https://docs.example/guide', 'http://docs.example/guide')).toBe(false);
});

test('converts a URL to an expected source that matches it', () => {
  expect(toExpectedSource(NODES)).toBe('ros2/01 nodes.md');
  for (const url of [NODES, 'https://docs.example/a?b=1', 'file:///a.md', 'file:///x/%E0%A4%A.md']) {
    expect(matchesSource(toExpectedSource(url), url)).toBe(true);
  }
});

test('names the file of URLs and paths', () => {
  expect(toFileName(NODES)).toBe('01 nodes.md');
  expect(toFileName('book/ros2/nodes.md')).toBe('nodes.md');
  expect(toFileName('https://docs.example/guide/#top')).toBe('guide');
});

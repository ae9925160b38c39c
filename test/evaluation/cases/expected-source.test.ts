import { expect, test } from 'vitest';
import {
  createSourceFinder,
  matchesSource,
  toExpectedSource,
} from '../../../src/evaluation/cases/expected-source.ts';

const NODES = 'file:///home/me/book/ros2/01%20nodes.md';

test('the end of a path names a file by whole segments', () => {
  expect(matchesSource('ros2/01 nodes.md', NODES)).toBe(true);
  expect(matchesSource('01 nodes.md', NODES)).toBe(true);
  expect(matchesSource('./ros2/01 nodes.md', NODES)).toBe(true);
  expect(matchesSource('nodes.md', NODES)).toBe(false);
  expect(matchesSource('ros/01 nodes.md', NODES)).toBe(false);
  expect(matchesSource('Ros2/01 nodes.md', NODES)).toBe(false);
  expect(matchesSource('/', NODES)).toBe(false);
});

test('the end of a path names a page too, whatever follows it', () => {
  expect(matchesSource('guide/setup', 'https://docs.example/guide/setup?lang=en#top')).toBe(true);
  expect(matchesSource('docs.example', 'https://docs.example/guide')).toBe(false);
});

test('a whole address must be the same but for its fragment and a slash at the end', () => {
  expect(matchesSource('https://docs.example/guide', 'https://docs.example/guide/#top')).toBe(true);
  expect(matchesSource('https://docs.example/guide', 'https://docs.example/guide?page=2')).toBe(false);
  expect(matchesSource('https://docs.example/guide', 'http://docs.example/guide')).toBe(false);
});

test('a name made from an address names that address', () => {
  expect(toExpectedSource(NODES)).toBe('ros2/01 nodes.md');
  for (const url of [NODES, 'https://docs.example/a?b=1', 'file:///a.md', 'file:///x/%E0%A4%A.md']) {
    expect(matchesSource(toExpectedSource(url), url)).toBe(true);
  }
});

test('documents are found by what a case calls them, files also by directories above what was ingested', () => {
  const documents = [
    { url: 'ros2/nodes.md', uri: 'file:///home/me/book/ros2/nodes.md' },
    { url: 'gazebo/nodes.md', uri: 'file:///home/me/book/gazebo/nodes.md' },
    { url: 'https://docs.example/guide', uri: 'file:///home/me/guide.md' },
  ];
  const find = createSourceFinder(documents);
  const urls = (expected: string) => find(expected).map(({ url }) => url);
  expect(urls('nodes.md')).toEqual(['ros2/nodes.md', 'gazebo/nodes.md']);
  expect(urls('book/ros2/nodes.md')).toEqual(['ros2/nodes.md']);
  expect(urls('me/guide.md')).toEqual(['https://docs.example/guide']);
  expect(urls('https://docs.example/guide/#top')).toEqual(['https://docs.example/guide']);
  expect(urls('odes.md')).toEqual([]);
});

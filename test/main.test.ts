import { expect, test } from 'vitest';
import { needsEmbeddingModel } from '../src/main.ts';

test.each([
  ['ask What is ROS 2?', true],
  ['search nodes --json', true],
  ['chat', true],
  ['ask nodes --mode lexical', false],
  ['search nodes --mode=lexical', false],
  ['ask --help', false],
  ['--version', false],
  ['ingest ./docs', false],
  ['', false],
])('%j: %s', (line, expected) => {
  expect(needsEmbeddingModel(line.split(' '))).toBe(expected);
});

import { expect, test } from 'vitest';
import { knownContextWindow, parseContextWindow } from '../../src/domain/context-window.ts';

test('knows the windows of hosted models, and has a default for others', () => {
  expect(knownContextWindow('gpt-4o-mini')).toBe(128_000);
  expect(knownContextWindow('openai/GPT-4.1')).toBe(1_000_000);
  expect(knownContextWindow('o3')).toBe(200_000);
  expect(knownContextWindow('gpt-4-0613')).toBe(8192);
  for (const served of ['offline', 'gpt-oss-120b', 'llama3.2', 'openai/gpt-oss-20b', 'olmo-2']) {
    expect(knownContextWindow(served)).toBe(8192);
  }
});

test.each([
  ["This model's maximum context length is 8192 tokens. However, you requested 9001 tokens.", 8192],
  ['the request exceeds the available context size (4096 tokens), try increasing it', 4096],
  ['The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).', 1_048_576],
  ['maximum context length of 131,072 tokens', 131_072],
  ['prompt is too long: 210000 tokens > 200000 maximum', undefined],
  ['Please reduce the length of the messages.', undefined],
])('reads the window from "%s"', (words, tokens) => {
  expect(parseContextWindow(words)).toBe(tokens);
});

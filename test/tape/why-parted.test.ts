import { expect, test } from 'vitest';
import type { Difference } from '../../src/tape/diff-values.ts';
import { NOTHING_KNOWN, whyAsked, whyCameOtherwise, whyElsewhere } from '../../src/tape/why-parted.ts';

const at = (path: string): Difference[] => [{ path, before: 1, after: 2 }];
const changed = (name: string, before: string | number, after: string | number) => ({
  ...NOTHING_KNOWN,
  changed: [{ name, before, after }],
});

test('a setting that was changed is the reason, not what it looks like', () => {
  const fewer = changed('topK', 5, 3);
  expect(whyAsked(at('messages[3].content.results[3]'), fewer)).toBe('topK is 3 now, and was 5');
  expect(whyAsked(at('tools[0].name'), changed('policy', 'tool', 'never'))).toBe(
    'policy is "never" now, and was "tool"',
  );
  expect(whyAsked(at('messages[0].content'), changed('systemPrompt', 'a '.repeat(50), 'b'))).toBe(
    'systemPrompt is another one now',
  );
  expect(whyCameOtherwise(at('turn 1.retrieved[0].chunks[4]'), fewer)).toBe('topK is 3 now, and was 5');
  expect(whyElsewhere(true, changed('api', 'responses', 'chat_completions'))).toContain('api is');
});

test('a tape of a version that carried more of earlier turns is told as that', () => {
  const leftOut = { reason: 'not_cited', count: 3 };
  const path = 'messages[3].content.left_out';
  const [results] = at('messages[3].content.results[2]');
  const differences = [...(results ? [results] : []), { path, before: undefined, after: leftOut }];
  expect(whyAsked(differences, NOTHING_KNOWN)).toContain('what the answers of earlier turns cited');
  expect(whyAsked([{ path, before: leftOut, after: { ...leftOut, count: 2 } }], NOTHING_KNOWN)).toBe(
    'the question, the prompt or the conversation before it changed',
  );
});

test('a setting that cannot have done it is not blamed', () => {
  expect(whyAsked(at('model'), changed('topK', 5, 3))).toBe('the model changed');
  expect(whyAsked(at('temperature'), changed('systemPrompt', 'a', 'b'))).toBe(
    'the settings of the model changed',
  );
});

test('whether the collection changed is said where it is known', () => {
  const results = at('messages[3].content.results[0].text');
  const known = (collectionChanged: boolean) => ({ changed: [], collectionChanged });
  expect(whyAsked(results, known(true))).toContain('the collection holds other documents now');
  expect(whyAsked(results, known(false))).toContain('of the same documents');
  expect(whyAsked(results, NOTHING_KNOWN)).toContain('the collection or its ranking changed');
  expect(whyCameOtherwise(at('turn 2.answer'), known(true))).toContain('other documents');
  expect(whyCameOtherwise(at('turn 2.answer'), known(false))).toContain('this version of the program');
});

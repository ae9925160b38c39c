import { expect, test } from 'vitest';
import {
  ablationArms,
  armsOfAxes,
  assertComparable,
  parseArm as parseArmWith,
} from '../../../src/evaluation/run/plan-arms.ts';

const files = {
  settings: (path: string) => ({ topK: 7, model: `of ${path}` }),
  text: (path: string) => `text of ${path}`,
};
const parseArm = (expression: string) => parseArmWith(expression, files);

test('every combination is an arm, named by what sets it apart', () => {
  expect(armsOfAxes({ policies: ['tool', 'always'] })).toEqual([
    { name: 'tool', changed: { policy: 'tool' } },
    { name: 'always', changed: { policy: 'always' } },
  ]);
  expect(
    armsOfAxes({ policies: ['tool'], topK: [3, 5], rerank: [true, false] }).map(({ name }) => name),
  ).toEqual(['top-k 3, reranked', 'top-k 3, not reranked', 'top-k 5, reranked', 'top-k 5, not reranked']);
});

test('an arm may change any setting', () => {
  expect(parseArm('policy=always top-k=10')).toEqual({
    name: 'policy=always topK=10',
    changed: { policy: 'always', topK: 10 },
  });
  expect(parseArm('careful: temperature=0, rerank=on')).toEqual({
    name: 'careful',
    changed: { temperature: 0, rerank: true },
  });
  expect(() => parseArm('careful: hot')).toThrow('"hot" in --arm is not of the form setting=value');
  expect(() => parseArm('topK=3 "a b"')).toThrow('is not of the form setting=value');
});

test('values with spaces stand in quotes, and texts and settings may come from files', () => {
  expect(parseArm('x: systemPrompt="You are terse, \\"very\\"." topK=3')).toEqual({
    name: 'x',
    changed: { systemPrompt: 'You are terse, "very".', topK: 3 },
  });
  expect(parseArm('systemPrompt=\'It: is so.\' model="5"').changed).toEqual({
    systemPrompt: 'It: is so.',
    model: '5',
  });
  expect(parseArm('systemPrompt=@terse.md')).toEqual({
    name: 'systemPrompt=@terse.md',
    changed: { systemPrompt: 'text of terse.md' },
  });
  expect(parseArm('wide: @careful.json topK=20').changed).toEqual({ topK: 20, model: 'of careful.json' });
  expect(parseArm('@arms/careful.json').name).toBe('@arms/careful.json');
});

test('prompts are an axis, named by their files', () => {
  const prompts = new Map([
    ['a.md', 'Be brief.'],
    ['b.md', 'Be thorough.'],
  ]);
  expect(armsOfAxes({ prompts })).toEqual([
    { name: 'a.md', changed: { systemPrompt: 'Be brief.' } },
    { name: 'b.md', changed: { systemPrompt: 'Be thorough.' } },
  ]);
});

test('one arm, or two of the same name, are nothing to compare', () => {
  expect(() => assertComparable(armsOfAxes({ policies: ['tool', 'tool'] }))).toThrow('nothing to compare');
  expect(() => assertComparable([parseArm('a: topK=3'), parseArm('a: topK=5')])).toThrow(
    'Two arms are called "a".',
  );
});

test('the ablation switches off what is on', () => {
  const names = (settings: Parameters<typeof ablationArms>[0]) =>
    ablationArms(settings).map(({ name }) => name);
  expect(names({ policy: 'tool', mode: 'hybrid', rerank: true, scoreThreshold: 0.3 })).toEqual([
    'all stages',
    'no reranking',
    'no full text',
    'no vectors',
    'no threshold',
    'no decision',
    'no retrieval',
  ]);
  expect(names({ policy: 'always', mode: 'dense', rerank: false, scoreThreshold: 0 })).toEqual([
    'all stages',
    'no retrieval',
  ]);
});

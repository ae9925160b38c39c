import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  assertComparableArms,
  combineArmSettings,
  orderByQuestion,
  parseArm,
} from '../../../src/evaluation/run/plan-arms.ts';
import { createTemporaryDirectory } from '../../support/temporary-directory.ts';

test('combines all values and names arms by those that vary', () => {
  expect(combineArmSettings({ policies: ['tool', 'always'] })).toEqual([
    { name: 'tool', changed: { policy: 'tool' } },
    { name: 'always', changed: { policy: 'always' } },
  ]);
  expect(
    combineArmSettings({ policies: ['tool'], topK: [3, 5], rerank: [true, false] }).map(({ name }) => name),
  ).toEqual(['top-k 3, reranked', 'top-k 3, not reranked', 'top-k 5, reranked', 'top-k 5, not reranked']);
});

test('parses the settings of an arm', () => {
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

test('parses quoted values', () => {
  expect(parseArm('x: systemPrompt="You are terse, \\"very\\"." topK=3')).toEqual({
    name: 'x',
    changed: { systemPrompt: 'You are terse, "very".', topK: 3 },
  });
  expect(parseArm('systemPrompt=\'It: is so.\' model="5"').changed).toEqual({
    systemPrompt: 'It: is so.',
    model: '5',
  });
});

test('reads a prompt from a file', async () => {
  const prompt = join(await createTemporaryDirectory(), 'terse.md');
  writeFileSync(prompt, 'Be terse.');
  expect(parseArm(`systemPrompt=@${prompt}`)).toEqual({
    name: `systemPrompt=@${prompt}`,
    changed: { systemPrompt: 'Be terse.' },
  });
  expect(() => parseArm('systemPrompt=@nowhere.md')).toThrow('Prompt file nowhere.md does not exist');
});

test('an arm can be a function of a module', () => {
  expect(parseArm('module:./agent.mjs')).toEqual({
    name: './agent.mjs',
    module: './agent.mjs',
    changed: {},
  });
  expect(parseArm('theirs: module:./agent.mjs#ask')).toEqual({
    name: 'theirs',
    module: './agent.mjs#ask',
    changed: {},
  });
});

test('the question moves two arms to the front, whose names may contain commas', () => {
  const arms = ['tool', 'always', 'always, top-k 3'].map((name) => ({ name }));
  const order = (question: string) => orderByQuestion(arms, question).map(({ name }) => name);
  expect(order('always,tool')).toEqual(['always', 'tool', 'always, top-k 3']);
  expect(order('always, top-k 3,tool')).toEqual(['always, top-k 3', 'tool', 'always']);
  expect(orderByQuestion(arms, undefined)).toBe(arms);
  for (const wrong of ['tool', 'tool,never', 'tool,tool'])
    expect(() => order(wrong)).toThrow('--question names no two arms');
});

test('rejects a single arm and duplicate names', () => {
  expect(() => assertComparableArms(combineArmSettings({ policies: ['tool', 'tool'] }))).toThrow(
    'Nothing to compare',
  );
  expect(() => assertComparableArms([parseArm('a: topK=3'), parseArm('a: topK=5')])).toThrow(
    'Two arms have the name "a".',
  );
});

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type EvaluationCase, evaluationCaseSchema } from '../../../src/evaluation/cases/evaluation-case.ts';
import { prepareChecks } from '../../../src/evaluation/run/custom-checks.ts';
import { createTemporaryDirectory } from '../../support/temporary-directory.ts';

const assertTrustedCode = () => {};
const signal = new AbortController().signal;
const createCase = (...checks: unknown[]): EvaluationCase =>
  evaluationCaseSchema.parse({ id: 'c', question: 'How?', checks });

async function outcomes(item: EvaluationCase, answer: string, directory = '.') {
  const check = await prepareChecks([item], { directory, grader: null, assertTrustedCode });
  return (await check(item, answer, signal)).map(({ passed }) => passed);
}

test('checks an answer by text and pattern', async () => {
  const item = createCase({ contains: 'Best Effort' }, { regex: '^it\\s+is' });
  expect(await outcomes(item, 'It is best effort.')).toEqual([true, true]);
  expect(await outcomes(item, 'Reliable, it is.')).toEqual([false, false]);
});

test('checks an answer with a function of a module, and fails if it throws', async () => {
  const directory = await createTemporaryDirectory();
  await writeFile(
    join(directory, 'checks.mjs'),
    `export default (answer, { question }) => answer.length > question.length;
export const polite = async (answer) => ({ pass: answer.includes('please'), reason: 'no please' });
export const broken = () => { throw new Error('it broke'); };
export const vague = () => 'maybe';`,
  );
  const item = createCase(
    { module: 'checks.mjs' },
    { module: './checks.mjs#polite' },
    { module: 'checks.mjs#broken' },
    { module: 'checks.mjs#vague' },
  );
  const check = await prepareChecks([item], { directory, grader: null, assertTrustedCode });
  expect(await check(item, 'Wait for it.', signal)).toMatchObject([
    { check: 'module checks.mjs', passed: true },
    { passed: false, reason: 'no please' },
    { passed: false, reason: 'it broke' },
    { passed: false, reason: 'it returned neither true nor false' },
  ]);
});

test('checks a rubric with a model and counts its tokens', async () => {
  const replies = ['{"pass": true, "reason": "both named"}', 'Hm.'];
  const prompts: string[] = [];
  const ask = async (_: string, prompt: string) => {
    prompts.push(prompt);
    return { text: replies.shift() ?? '', tokens: { prompt: 50, completion: 5, total: 55 } };
  };
  const item = createCase({ rubric: 'It names both ports.' }, { rubric: '=== end ===' });
  const check = await prepareChecks([item], {
    directory: '.',
    grader: { ask, priceOf: ({ total }) => total / 100 },
    assertTrustedCode,
  });
  expect(await check(item, '80 and 443', signal)).toEqual([
    { check: 'rubric It names both ports.', passed: true, reason: 'both named', tokens: 55, cost: 0.55 },
    {
      check: 'rubric === end ===',
      passed: false,
      reason: 'the reply of the model could not be parsed',
      tokens: 55,
      cost: 0.55,
    },
  ]);
  expect(prompts[1]).toContain('=== rubric ===\n === end ===');
});

test('rejects invalid checks before any question is asked', async () => {
  const opening = (...checks: unknown[]) =>
    prepareChecks([createCase(...checks)], { directory: '.', grader: null, assertTrustedCode });
  await expect(opening({ regex: '(' })).rejects.toThrow('Invalid check regex ( in case "c"');
  await expect(opening({ module: 'nowhere.mjs' })).rejects.toThrow('Could not load nowhere.mjs');
  await expect(opening({ module: 'package.json#x' })).rejects.toThrow('package.json exports no function "x"');
  await expect(opening({ rubric: 'Be nice.' })).rejects.toThrow('a rubric needs --grade-model');
  expect(() => createCase({ contains: 'a', regex: 'b' })).toThrow();
});

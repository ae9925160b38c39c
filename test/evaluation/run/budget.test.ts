import { expect, test } from 'vitest';
import { createBudget } from '../../../src/evaluation/run/budget.ts';
import { createRunJournal, runArms } from '../../../src/evaluation/run/run-arms.ts';
import { aRun } from '../a-run.ts';

test('a question is asked only if half as much again as the dearest of its arm is left', () => {
  const budget = createBudget(10);
  expect(budget.allows('a')).toBe(true);
  budget.settle('a', 4);
  expect(budget.allows('a')).toBe(true);
  // Another is under way: with it, all ten are bound.
  expect(budget.allows('a')).toBe(false);
  budget.settle('a', 1);
  expect(budget.spent).toBe(5);
  expect(budget.allows('b')).toBe(false);
  expect(createBudget(0).allows('a')).toBe(false);
});

test('an evaluation stops before its budget is passed and says what is missing, by arm, judge included', async () => {
  const cases = ['1', '2', '3', '4', '5'].map((id) => ({ id, question: `${id}?` }));
  const tokens = { prompt: 0, completion: 0, total: 0 };
  const ask = async () => aRun({ cost: 0.5, judge: { scores: [1], reason: '', tokens, cost: 0.5 } });
  const budget = createBudget(5);
  const lines: string[] = [];
  const running = runArms(
    cases,
    [
      { name: 'x', ask },
      { name: 'y', ask },
    ],
    {
      repeat: 1,
      concurrency: 2,
      signal: new AbortController().signal,
      journal: createRunJournal([], async (line) => void lines.push(line)),
      budget,
    },
  );
  await expect(running).rejects.toMatchObject({
    kind: 'gate_failed',
    message: 'The budget is used up after 4: 6 of 10 answers are missing (3 of x, 3 of y).',
  });
  expect(lines).toHaveLength(4);
});

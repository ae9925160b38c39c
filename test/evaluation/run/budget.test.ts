import { expect, test } from 'vitest';
import { createBudget, createRunJournal, runArms } from '../../../src/evaluation/run/run-arms.ts';
import { createRun } from '../run-fixtures.ts';

test('reserves 1.5 times the highest cost of an arm', () => {
  const budget = createBudget(10);
  expect(budget.reserve('a')).toBe(true);
  budget.settle('a', 4);
  expect(budget.reserve('a')).toBe(true);
  // The reservation of the second question uses the rest.
  expect(budget.reserve('a')).toBe(false);
  budget.settle('a', 1);
  expect(budget.spent).toBe(5);
  expect(budget.reserve('b')).toBe(false);
  expect(createBudget(0).reserve('a')).toBe(false);
});

test('stops before the budget is exceeded and lists the missing answers by arm', async () => {
  const cases = ['1', '2', '3', '4', '5'].map((id) => ({ id, question: `${id}?` }));
  const tokens = { prompt: 0, completion: 0, total: 0 };
  const ask = async () => createRun({ cost: 0.5, judge: { scores: [1], reason: '', tokens, cost: 0.5 } });
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

import { expect, test } from 'vitest';
import { createRunJournal, runArms } from '../../../src/evaluation/run/run-arms.ts';
import { createRun } from '../run-fixtures.ts';

test('stops before the budget is exceeded and counts the missing answers', async () => {
  const cases = ['1', '2', '3', '4', '5'].map((id) => ({ id, question: `${id}?` }));
  const ask = async () =>
    createRun({ cost: 0.5, grade: { correct: true, reason: '', tokens: 0, cost: 0.5 } });
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
      budget: 5,
    },
  );
  await expect(running).rejects.toMatchObject({
    kind: 'gate_failed',
    message: 'The budget is used up after 4: 6 of 10 answers are missing.',
  });
  expect(lines).toHaveLength(4);
});

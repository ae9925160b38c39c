import { expect, test } from 'vitest';
import type { EvaluationCase } from '../../../src/evaluation/cases/evaluation-case.ts';
import { createRunJournal, type RunnableArm, runArms } from '../../../src/evaluation/run/run-arms.ts';
import { AppError } from '../../../src/faults/app-error.ts';
import { createRun, createRunError } from '../run-fixtures.ts';

const CASES: EvaluationCase[] = ['a', 'b', 'c', 'd'].map((id) => ({ id, question: `${id}?` }));
const never = new AbortController().signal;

function anArm(
  name: string,
  asked: string[],
  ask: RunnableArm['ask'] = async (_, repeat) => createRun({ repeat }),
): RunnableArm {
  return {
    name,
    ask(item, repeat, signal) {
      asked.push(`${name} ${item.id}${repeat}`);
      return ask(item, repeat, signal);
    },
  };
}

test('every case is asked in every arm as often as wanted, and arms take turns at being the first', async () => {
  const asked: string[] = [];
  const journal = createRunJournal([], async () => {});
  const results = await runArms(CASES.slice(0, 2), [anArm('x', asked), anArm('y', asked)], {
    repeat: 2,
    concurrency: 1,
    signal: never,
    journal,
  });
  expect(asked).toEqual(['x a1', 'y a1', 'y a2', 'x a2', 'y b1', 'x b1', 'x b2', 'y b2']);
  expect(
    results
      .get('y')
      ?.get('b')
      ?.map(({ repeat }) => repeat),
  ).toEqual([1, 2]);
});

test('no more questions are under way than allowed, and all of them count', async () => {
  let underWay = 0;
  let most = 0;
  const ask = async () => {
    underWay += 1;
    most = Math.max(most, underWay);
    await new Promise((resolve) => setTimeout(resolve, 5));
    underWay -= 1;
    return createRun();
  };
  const progress: number[] = [];
  await runArms(CASES, [anArm('x', [], ask), anArm('y', [], ask)], {
    repeat: 1,
    concurrency: 3,
    signal: never,
    journal: createRunJournal([], async () => {}),
    onProgress: ({ done, total }) => progress.push(done / total),
  });
  expect(most).toBe(3);
  expect(progress.at(-1)).toBe(1);
});

test('an interrupted evaluation goes on where it stopped, with the answers it had', async () => {
  const lines: string[] = [];
  const controller = new AbortController();
  const asked: string[] = [];
  const stopping = anArm('x', asked, async (item) => {
    if (item.id === 'c') controller.abort(new AppError('interrupted', 'Stopped.'));
    controller.signal.throwIfAborted();
    return createRun({ answer: item.id });
  });
  const options = { repeat: 1, concurrency: 1 };
  const first = createRunJournal([], async (line) => void lines.push(line));
  await expect(
    runArms(CASES, [stopping], { ...options, signal: controller.signal, journal: first }),
  ).rejects.toThrow('Stopped.');
  expect(lines).toHaveLength(2);

  // The last line may have been cut short.
  const second = createRunJournal([...lines, lines[0]?.slice(0, 40) ?? ''], async () => {});
  asked.length = 0;
  const results = await runArms(CASES, [anArm('x', asked)], { ...options, signal: never, journal: second });
  expect(asked).toEqual(['x c1', 'x d1']);
  expect(results.get('x')?.get('b')?.[0]?.answer).toBe('b');
});

test('a run that failed is not journalled, so that it is asked again', async () => {
  const lines: string[] = [];
  const journal = createRunJournal([], async (line) => void lines.push(line));
  const arm = anArm('x', [], async (item) => createRun(item.id === 'b' ? { error: createRunError() } : {}));
  const results = await runArms(CASES, [arm], { repeat: 1, concurrency: 2, signal: never, journal });
  expect(results.get('x')?.get('b')?.[0]?.error?.message).toBe('It broke.');
  expect(lines.map((line) => JSON.parse(line).caseId).sort()).toEqual(['a', 'c', 'd']);
});

test('a fault that all questions would meet ends the evaluation at once', async () => {
  const asked: string[] = [];
  const refused = { ...createRunError(), errorType: 'auth_error' as const, message: 'The key is wrong.' };
  const arm = anArm('x', asked, async () => createRun({ error: refused }));
  const options = { repeat: 1, concurrency: 1, signal: never, journal: createRunJournal([], async () => {}) };
  await expect(runArms(CASES, [arm], options)).rejects.toMatchObject({
    kind: 'auth_error',
    message: 'The key is wrong.',
  });
  expect(asked).toHaveLength(1);
});

test('a defect in one arm stops the others', async () => {
  const asked: string[] = [];
  const broken = anArm('x', asked, async () => {
    throw new TypeError('defect');
  });
  const options = { repeat: 1, concurrency: 2, signal: never, journal: createRunJournal([], async () => {}) };
  await expect(runArms(CASES, [broken, anArm('y', asked)], options)).rejects.toThrow('defect');
  expect(asked.length).toBeLessThan(8);
});

test('an evaluation without a single answer fails with what kept it from one', async () => {
  const arm = anArm('x', [], async () => createRun({ error: createRunError() }));
  const options = { repeat: 1, concurrency: 2, signal: never, journal: createRunJournal([], async () => {}) };
  await expect(runArms(CASES, [arm], options)).rejects.toMatchObject({
    kind: 'api_error',
    message: 'No question was answered. It broke.',
  });
});

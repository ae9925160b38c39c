import { expect, test } from 'vitest';
import type { EvaluationCase } from '../../../src/evaluation/cases/evaluation-case.ts';
import { createRunJournal, type RunnableArm, runArms } from '../../../src/evaluation/run/run-arms.ts';
import { AppError } from '../../../src/faults/app-error.ts';
import { createRun, createRunError } from '../run-fixtures.ts';

const CASES: EvaluationCase[] = ['a', 'b', 'c', 'd'].map((id) => ({ id, question: `${id}?` }));
const signal = new AbortController().signal;

function createArm(
  name: string,
  asked: string[],
  ask: RunnableArm['ask'] = async (_, repeat) => createRun({ repeat }),
): RunnableArm {
  return {
    name,
    ask(item, repeat, armSignal) {
      asked.push(`${name} ${item.id}${repeat}`);
      return ask(item, repeat, armSignal);
    },
  };
}

test('asks every case in every arm and alternates the first arm', async () => {
  const asked: string[] = [];
  const journal = createRunJournal([], async () => {});
  const results = await runArms(CASES.slice(0, 2), [createArm('x', asked), createArm('y', asked)], {
    repeat: 2,
    concurrency: 1,
    signal,
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

test('limits the concurrency and reports progress', async () => {
  let running = 0;
  let highest = 0;
  const ask = async () => {
    running += 1;
    highest = Math.max(highest, running);
    await new Promise((resolve) => setTimeout(resolve, 5));
    running -= 1;
    return createRun();
  };
  const progress: number[] = [];
  await runArms(CASES, [createArm('x', [], ask), createArm('y', [], ask)], {
    repeat: 1,
    concurrency: 3,
    signal,
    journal: createRunJournal([], async () => {}),
    onProgress: ({ done, total }) => progress.push(done / total),
  });
  expect(highest).toBe(3);
  expect(progress.at(-1)).toBe(1);
});

test('continues an interrupted evaluation from its journal', async () => {
  const lines: string[] = [];
  const controller = new AbortController();
  const asked: string[] = [];
  const stopping = createArm('x', asked, async (item) => {
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

  // The last line may be truncated.
  const second = createRunJournal([...lines, lines[0]?.slice(0, 40) ?? ''], async () => {});
  asked.length = 0;
  const results = await runArms(CASES, [createArm('x', asked)], { ...options, signal, journal: second });
  expect(asked).toEqual(['x c1', 'x d1']);
  expect(results.get('x')?.get('b')?.[0]?.answer).toBe('b');
});

test('does not add failed runs to the journal', async () => {
  const lines: string[] = [];
  const journal = createRunJournal([], async (line) => void lines.push(line));
  const arm = createArm('x', [], async (item) =>
    createRun(item.id === 'b' ? { error: createRunError() } : {}),
  );
  const results = await runArms(CASES, [arm], { repeat: 1, concurrency: 2, signal, journal });
  expect(results.get('x')?.get('b')?.[0]?.error?.message).toBe('It broke.');
  expect(lines.map((line) => JSON.parse(line).caseId).sort()).toEqual(['a', 'c', 'd']);
});

test('stops at a fatal error', async () => {
  const asked: string[] = [];
  const refused = { ...createRunError(), errorType: 'auth_error' as const, message: 'The key is wrong.' };
  const arm = createArm('x', asked, async () => createRun({ error: refused }));
  const options = { repeat: 1, concurrency: 1, signal, journal: createRunJournal([], async () => {}) };
  await expect(runArms(CASES, [arm], options)).rejects.toMatchObject({
    kind: 'auth_error',
    message: 'The key is wrong.',
  });
  expect(asked).toHaveLength(1);
});

test('stops all arms at an unexpected error', async () => {
  const asked: string[] = [];
  const broken = createArm('x', asked, async () => {
    throw new TypeError('defect');
  });
  const options = { repeat: 1, concurrency: 2, signal, journal: createRunJournal([], async () => {}) };
  await expect(runArms(CASES, [broken, createArm('y', asked)], options)).rejects.toThrow('defect');
  expect(asked.length).toBeLessThan(8);
});

test('fails with the error of the runs if all of them failed', async () => {
  const arm = createArm('x', [], async () => createRun({ error: createRunError() }));
  const options = { repeat: 1, concurrency: 2, signal, journal: createRunJournal([], async () => {}) };
  await expect(runArms(CASES, [arm], options)).rejects.toMatchObject({
    kind: 'api_error',
    message: 'No question was answered. It broke.',
  });
});

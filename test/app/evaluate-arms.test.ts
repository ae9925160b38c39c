import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadFunction } from '../../src/evaluation/run/function-arm.ts';
import { type ArmFunction, compare, createAgent, type EvaluationCase, evaluate } from '../../src/index.ts';
import { createSmallHome } from '../support/serve-offline-model.ts';
import { createTemporaryDirectory } from '../support/temporary-directory.ts';

const CASES: EvaluationCase[] = [
  { id: 'node', question: 'What is a node?', expectedPhrases: ['process'], expectedSources: ['nodes.md'] },
  { id: 'topic', question: 'What is a topic?', expectedAnswer: 'A named bus.' },
  { id: 'moon', question: 'Who walked on the moon?', answerable: false },
];

const knowsAll: ArmFunction = ({ id }) =>
  id === 'moon'
    ? { answer: "I don't have information about that." }
    : {
        answer: id === 'node' ? 'A node is a process.' : 'A topic is a named bus.',
        sources: ['docs/nodes.md', { url: 'docs/topics.md', text: 'A topic is a named bus.' }],
        tokens: { prompt: 90, completion: 10 },
      };

test('evaluates a function with the metrics of the command', async () => {
  const report = await evaluate(knowsAll, { cases: CASES, gates: ['answer.correct>=1'] });
  expect(report.arms[0]).toMatchObject({
    name: 'agent',
    settings: null,
    metrics: {
      'answer.correct': { value: 1, n: 3 },
      'abstention.recall': { value: 1, n: 1 },
      'retrieval.recall@5': { value: 1, n: 1 },
      'cost.tokens': { value: 100, n: 2 },
      'citation.precision': { status: 'no data' },
      'time.total': { n: 3 },
    },
  });
  expect(report.gates).toMatchObject([{ passed: true }]);
});

test('counts what a function throws as a failed run, unless all fail', async () => {
  const failing: ArmFunction = ({ id }) => {
    if (id === 'node') throw new Error('It broke.');
    return { answer: 'No idea' };
  };
  const report = await evaluate(failing, { cases: CASES });
  expect(report.arms[0]).toMatchObject({ errors: 1, metrics: { 'answer.correct': { n: 3 } } });
  expect(report.cases[0]?.results.agent?.runs[0]?.error).toMatchObject({ message: 'It broke.' });
  const broken = evaluate((() => ({ text: 'x' })) as never, { cases: CASES });
  await expect(broken).rejects.toMatchObject({
    message: expect.stringContaining('No question was answered'),
  });
});

test('compares an agent of the library with a function, over a history, from a file', async () => {
  const { home } = await createSmallHome();
  const file = join(home, 'cases.jsonl');
  const history = [
    { role: 'user' as const, content: 'What is a topic?' },
    { role: 'assistant' as const, content: 'A named bus.' },
  ];
  const cases = [
    ...CASES,
    { id: 'again', question: 'And what is a node?', history, expectedPhrases: ['process'] },
  ];
  await writeFile(file, cases.map((item) => `${JSON.stringify(item)}\n`).join(''));
  const agent = await createAgent({ home, collection: 'small', model: 'offline' });
  const report = await compare({ ours: agent, theirs: knowsAll }, { cases: file, repeat: 2 });
  await agent.close();
  expect(report).toMatchObject({ kind: 'comparison', decision: { kind: 'undecided' } });
  expect(report.cases.map(({ results }) => results.ours?.runs.length)).toEqual([2, 2, 2, 2]);
  expect(report.cases[0]?.results.ours?.runs[0]).toMatchObject({ error: null, checked: true });
  expect(report.cases[0]?.results.ours?.metrics['answer.correct']).toBe(1);
  expect(() => compare({ only: knowsAll }, { cases: CASES })).toThrow('Nothing to compare');
});

test('loads a function from a module by its export', async () => {
  const path = join(await createTemporaryDirectory(), 'agent.mjs');
  await writeFile(
    path,
    'export default () => ({ answer: "a" });\nexport const other = () => ({ answer: "b" });\n',
  );
  const options = { signal: new AbortController().signal, repeat: 1 };
  const item = CASES[0] as EvaluationCase;
  expect(await (await loadFunction<ArmFunction>(path))(item, options)).toEqual({ answer: 'a' });
  expect(await (await loadFunction<ArmFunction>(`${path}#other`))(item, options)).toEqual({ answer: 'b' });
  await expect(loadFunction<ArmFunction>(`${path}#none`)).rejects.toThrow('exports no function "none"');
  await expect(loadFunction<ArmFunction>(`${path}.missing`)).rejects.toMatchObject({ kind: 'invalid_input' });
});

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runInProcess } from '../../support/run-in-process.ts';
import { createSmallHome, serveOfflineModel } from '../../support/serve-offline-model.ts';

const CASES = [
  { id: 'node', question: 'What is a node?', expectedPhrases: ['process'], answerable: true },
  { id: 'weather', question: 'What is the weather today?', answerable: false },
];

test('replays a recorded comparison to the same report without the model', async () => {
  const place = await createSmallHome();
  await writeFile(join(place.home, 'cases.jsonl'), CASES.map((item) => JSON.stringify(item)).join('\n'));
  const { flags, stop } = await serveOfflineModel();
  const compare = ['compare', 'cases.jsonl', '--policies', 'tool,always', '--collection', 'small'];
  const recorded = await runInProcess(
    [...compare, ...flags, '--record', 'cases.tape.json', '--json', 'a.json'],
    place,
  );
  await stop();
  expect(recorded).toMatchObject({ code: 0, stderr: expect.stringContaining('Recorded') });

  const replay = [...compare, '--replay', 'cases.tape.json', '--json'];
  for (const file of ['b.json', 'c.json']) {
    expect(await runInProcess([...replay, file], place)).toMatchObject({ code: 0 });
  }
  const [first, second, third] = await Promise.all(
    ['a.json', 'b.json', 'c.json'].map((file) => readFile(join(place.home, file), 'utf8')),
  );
  expect(third).toBe(second);
  // All answers of the report with their citations.
  const answersOf = (text = '') => {
    const answers: unknown[] = [];
    JSON.parse(text, (_key, value) => {
      if (typeof value?.answer === 'string') answers.push([value.answer, value.citations]);
      return value;
    });
    return answers;
  };
  expect(answersOf(first)).toHaveLength(4);
  expect(answersOf(second)).toEqual(answersOf(first));

  expect(await runInProcess(['replay', 'cases.tape.json'], place)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('same'),
  });

  await writeFile(
    join(place.home, 'cases.jsonl'),
    JSON.stringify({ ...CASES[0], question: 'What is a bus?' }),
  );
  const drifted = await runInProcess(['replay', 'cases.tape.json'], place);
  expect(drifted.code).toBe(7);
});

test('comments which cases need a new recording, and records only these', async () => {
  const place = await createSmallHome();
  await writeFile(join(place.home, 'cases.jsonl'), CASES.map((item) => JSON.stringify(item)).join('\n'));
  const { flags, stop } = await serveOfflineModel();
  const evaluate = ['eval', 'cases.jsonl', '--collection', 'small', '--policy', 'always'];
  const recorded = await runInProcess([...evaluate, ...flags, '--record', 'eval.tape.json'], place);
  expect(recorded).toMatchObject({ code: 0 });
  const changed = [...evaluate, '--replay', 'eval.tape.json', '--system-prompt', 'Be brief.'];
  const missed = await runInProcess([...changed, '--markdown', 'comment.md', '--html', 'x.html'], place);
  expect(missed.code).toBe(7);
  expect(missed.stderr).toContain('2 of 2 cases need a new recording: node, weather');
  const comment = await readFile(join(place.home, 'comment.md'), 'utf8');
  expect(comment).toMatch(/^<!-- citeloop-evaluation -->\n\n### ❌ 2 of 2 cases need a new recording/);
  expect(comment).toContain('- <code>node</code>');
  expect(comment).toContain('--on-miss record');
  await expect(readFile(join(place.home, 'x.html'))).rejects.toThrow();
  const renewed = await runInProcess([...changed, ...flags, '--on-miss', 'record'], place);
  expect(renewed).toMatchObject({ code: 0 });
  await stop();
  expect(await runInProcess(changed, place)).toMatchObject({ code: 0 });
});

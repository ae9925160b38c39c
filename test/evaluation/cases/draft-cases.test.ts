import { expect, test } from 'vitest';
import { draftCases } from '../../../src/evaluation/cases/draft-cases.ts';

const chunk = (name: string, heading: string, text: string) => ({
  url: `file:///book/ros2/${name}.md`,
  title: 'Nodes',
  headings: ['Nodes', heading],
  text,
});

test('drafts a question from a definition, with its first words as the expected phrase', async () => {
  const text = 'These are simple. A lifecycle node is a node with managed states that a launch file drives.';
  const [first] = await draftCases([chunk('nodes', 'Basics', text)], { count: 5 });
  expect(first).toMatchObject({
    id: 'draft-001',
    question: 'What is lifecycle node?',
    expectedSources: ['ros2/nodes.md'],
    expectedPhrases: ['a node with managed states that'],
    answerable: true,
    tags: ['draft', 'definition'],
  });
});

test('drafts a question from a heading where nothing is defined', async () => {
  const chunks = [
    chunk('a', 'How to install packages', 'Run the installer and wait until it has finished.'),
    chunk('b', 'Why does it stop?', 'Batteries run empty after some two hours of driving.'),
    chunk('c', 'Batteries', 'Batteries are charged over night in the dock.'),
  ];
  const drafts = await draftCases(chunks, { count: 5 });
  expect(
    drafts
      .slice(0, 3)
      .map(({ question }) => question)
      .sort(),
  ).toEqual([
    'How do I install packages?',
    'What does the section "Batteries" in "Nodes" say?',
    'Why does it stop?',
  ]);
});

test('draws passages evenly over the documents and asks no question twice', async () => {
  const long = Array.from({ length: 20 }, (_, index) =>
    chunk('long', `Part ${index}`, `Wheels of kind ${index} turn as long as there is current.`),
  );
  const short = chunk('short', 'Alone', 'Motors stop when the current is switched off.');
  const drafts = await draftCases([...long, short, short], { count: 2 });
  expect(drafts.flatMap(({ expectedSources = [] }) => expectedSources).sort()).toEqual([
    'ros2/long.md',
    'ros2/short.md',
  ]);
});

test('adds cases for abstention and for not searching', async () => {
  const motors = chunk('a', 'Alone', 'Motors stop when the current is switched off.');
  const drafts = await draftCases([motors], { count: 1 });
  expect(drafts.some(({ answerable }) => answerable === false)).toBe(true);
  expect(drafts.some(({ needsRetrieval }) => needsRetrieval === false)).toBe(true);
});

test('drafts nothing from text without a sentence, and the same from the same passages', async () => {
  const draft = () => draftCases(chunks, { count: 4 });
  expect(await draftCases([chunk('a', 'Table', '| a | b |')], { count: 5 })).toEqual([]);
  const chunks = Array.from({ length: 9 }, (_, index) =>
    chunk(`d${index}`, `Part ${index}`, `Wheels ${index} turn as long as they can.`),
  );
  expect(await draft()).toEqual(await draft());
});

test('drafts with the questions of a model, and skips replies whose phrase is not in the passage', async () => {
  const replies = [
    '{"question": "When do motors stop?", "phrase": "current is switched off"}',
    '{"question": "Who built it?", "phrase": "a made-up name"}',
    '{}',
    'No idea.',
  ];
  const prompts: string[] = [];
  const ask = async (_: string, prompt: string) => {
    const text = replies[prompts.push(prompt) - 1] ?? '';
    return { text, tokens: { prompt: 0, completion: 0, total: 0 } };
  };
  const chunks = Array.from({ length: 4 }, (_, index) =>
    chunk(`d${index}`, 'Motors', 'Motors stop when the current is switched off.'),
  );
  const drafts = await draftCases(chunks, { count: 4, ask });
  expect(prompts).toHaveLength(4);
  expect(prompts[0]).toContain('Motors stop when');
  expect(drafts.filter(({ tags }) => tags?.includes('model'))).toMatchObject([
    { question: 'When do motors stop?', expectedPhrases: ['current is switched off'], answerable: true },
  ]);
});

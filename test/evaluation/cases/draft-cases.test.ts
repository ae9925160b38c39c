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
  const {
    cases: [first],
  } = await draftCases([chunk('nodes', 'Basics', text)], { count: 5 });
  expect(first).toMatchObject({
    id: 'draft-001',
    question: 'What is a lifecycle node?',
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
  const { cases: drafts, passages } = await draftCases(chunks, { count: 6 });
  expect(passages).toEqual({ read: 3, unused: 1, repeated: 0 });
  expect(
    drafts
      .slice(0, 2)
      .map(({ question }) => question)
      .sort(),
  ).toEqual(['How do I install packages?', 'Why does it stop?']);
});

test('draws passages evenly over the documents and asks no question twice', async () => {
  const long = Array.from({ length: 20 }, (_, index) =>
    chunk('long', `How to turn ${index}`, `Wheels of kind ${index} turn as long as there is current.`),
  );
  const short = chunk('short', 'How to stop', 'Motors stop when the current is switched off.');
  const { cases: drafts } = await draftCases([...long, short, short], { count: 3 });
  expect(drafts.flatMap(({ expectedSources = [] }) => expectedSources).sort()).toEqual([
    'ros2/long.md',
    'ros2/short.md',
  ]);
});

test('makes a third of the cases unanswerable, about what no document mentions, and adds small talk', async () => {
  const chunks = Array.from({ length: 30 }, (_, index) =>
    chunk(`d${index}`, `How to play chess ${index}`, `Wheels ${index} turn as long as they can.`),
  );
  const opening = chunk('chess', 'Install it', 'Chess is a game of two players on a board.');
  const { cases } = await draftCases([...chunks, opening], { count: 18 });
  expect(cases.filter(({ answerable }) => answerable === true)).toHaveLength(12);
  const unanswerable = cases.filter(({ answerable }) => answerable === false);
  expect(unanswerable).toHaveLength(6);
  expect(unanswerable.map(({ question }) => question).join()).not.toContain('chess');
  expect(cases.some(({ needsRetrieval }) => needsRetrieval === false)).toBe(true);
});

test('drafts nothing from text without a sentence, and the same from the same passages', async () => {
  const draft = () => draftCases(chunks, { count: 4 });
  expect(await draftCases([chunk('a', 'Table', '| a | b |')], { count: 5 })).toMatchObject({
    cases: [],
    passages: { unused: 1 },
  });
  const chunks = Array.from({ length: 9 }, (_, index) =>
    chunk(`d${index}`, `Install ${index}`, `Wheels ${index} turn as long as they can.`),
  );
  expect(await draft()).toEqual(await draft());
});

test('drafts with the questions of a model, and skips replies whose phrase is not in the passage', async () => {
  const replies = [
    '{"question": "When do motors stop?", "phrase": "current is switched off"}',
    '{"question": "Who built it?", "phrase": "a made-up name"}',
    '{}',
    'No idea.',
    '{"question": "Does it run on a Zamboni?", "missing": "Zamboni"}',
    '{"question": "Why does the current stop?", "missing": "current"}',
  ];
  const prompts: string[] = [];
  const ask = async (_: string, prompt: string) => {
    const text = replies[prompts.push(prompt) - 1] ?? '';
    return { text, tokens: { prompt: 0, completion: 0, total: 0 } };
  };
  const chunks = Array.from({ length: 4 }, (_, index) =>
    chunk(`d${index}`, 'Motors', 'Motors stop when the current is switched off.'),
  );
  const { cases: drafts } = await draftCases(chunks, { count: 15, ask });
  expect(prompts).toHaveLength(8);
  expect(prompts[0]).toContain('Motors stop when');
  expect(drafts.filter(({ tags }) => tags?.includes('model'))).toMatchObject([
    { question: 'When do motors stop?', expectedPhrases: ['current is switched off'], answerable: true },
  ]);
  const hard = drafts.filter(({ tags }) => tags?.includes('near-miss'));
  expect(hard).toMatchObject([{ question: 'Does it run on a Zamboni?', answerable: false }]);
});

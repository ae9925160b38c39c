import { expect, test } from 'vitest';
import { createSession } from '../../../src/domain/conversation-session.ts';
import { draftCasesFromChunks, draftCasesFromSession } from '../../../src/evaluation/cases/draft-cases.ts';
import type { RecordedTurn } from '../../../src/ports/session-store.ts';

const chunk = (name: string, heading: string, text: string) => ({
  url: `file:///book/ros2/${name}.md`,
  title: 'Nodes',
  headings: ['Nodes', heading],
  text,
});

test('drafts a question from a definition, with its first words as the expected phrase', async () => {
  const text = 'These are simple. A lifecycle node is a node with managed states that a launch file drives.';
  const [first] = await draftCasesFromChunks([chunk('nodes', 'Basics', text)], { count: 5, seed: 1 });
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
  const drafts = await draftCasesFromChunks(chunks, { count: 5, seed: 1 });
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
  const drafts = await draftCasesFromChunks([...long, short, short], { count: 2, seed: 1 });
  expect(drafts.flatMap(({ expectedSources = [] }) => expectedSources).sort()).toEqual([
    'ros2/long.md',
    'ros2/short.md',
  ]);
});

test('adds cases for abstention and for not searching', async () => {
  const motors = chunk('a', 'Alone', 'Motors stop when the current is switched off.');
  const drafts = await draftCasesFromChunks([motors], { count: 1, seed: 1 });
  expect(drafts.some(({ answerable }) => answerable === false)).toBe(true);
  expect(drafts.some(({ needsRetrieval }) => needsRetrieval === false)).toBe(true);
});

test('drafts nothing from text without a sentence, and the same from the same seed', async () => {
  const draft = (seed: number) => draftCasesFromChunks(chunks, { count: 4, seed });
  expect(await draftCasesFromChunks([chunk('a', 'Table', '| a | b |')], { count: 5, seed: 1 })).toEqual([]);
  const chunks = Array.from({ length: 9 }, (_, index) =>
    chunk(`d${index}`, `Part ${index}`, `Wheels ${index} turn as long as they can.`),
  );
  expect(await draft(3)).toEqual(await draft(3));
  expect(await draft(3)).not.toEqual(await draft(4));
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
  const drafts = await draftCasesFromChunks(chunks, { count: 4, seed: 1, ask });
  expect(prompts).toHaveLength(4);
  expect(prompts[0]).toContain('Motors stop when');
  expect(drafts.filter(({ tags }) => tags?.includes('model'))).toMatchObject([
    { question: 'When do motors stop?', expectedPhrases: ['current is switched off'], answerable: true },
  ]);
});

function turn(
  turnNumber: number,
  answer: string,
  feedback: RecordedTurn['feedback'],
  urls: string[] = [],
): RecordedTurn {
  const citations = urls.map((url) => ({ url, verdict: 'supported' }));
  const response = { answer, turnNumber, citations, retrievalPerformed: urls.length > 0 };
  // Only the fields that drafting reads.
  return { turn: { userQuery: `Question ${turnNumber}?`, response }, feedback } as unknown as RecordedTurn;
}

const judged = (verdict: 'good' | 'bad', why: string | null = null) => ({
  verdict,
  why,
  at: '2026-01-01T00:00:00Z',
});
const session = createSession({
  sessionId: '01234567-89ab-4cde-8f01-23456789abcd',
  createdAt: '2026-01-01T00:00:00Z',
  model: 'offline',
  policy: 'tool',
  collection: 'docs',
  systemMessage: {
    id: 's',
    role: 'system',
    content: 'x',
    citations: [],
    tokenCount: 1,
    timestamp: '2026-01-01T00:00:00Z',
    metadata: {},
  },
});

test('takes the sources of an answer with good feedback as gold', () => {
  const [good, abstention, bad, unjudged] = draftCasesFromSession(session, [
    turn(1, 'It is blue.', judged('good'), ['file:///book/ros2/nodes.md', 'file:///book/ros2/nodes.md']),
    turn(2, "I don't have information about red.", judged('good')),
    turn(3, 'It is green.', judged('bad', 'outdated'), ['file:///book/old.md']),
    turn(4, 'It is grey.', null),
  ]);
  expect(good).toMatchObject({ id: '01234567-1', expectedSources: ['ros2/nodes.md'], answerable: true });
  expect(good?.history).toBeUndefined();
  expect(abstention).toMatchObject({
    answerable: false,
    history: [{ role: 'user', content: 'Question 1?' }, { role: 'assistant' }],
  });
  expect(bad).not.toHaveProperty('expectedSources');
  expect(bad?.note).toBe('Feedback bad (outdated): It is green.');
  expect(unjudged?.tags).toEqual(['draft', 'unjudged']);
});

test('starts a new history after a reset', () => {
  const segments = [
    {
      turnCount: 1,
      retrievalCount: 0,
      totalTokensUsed: 0,
      messageCount: 3,
      closedAt: '2026-01-01T00:00:00Z',
    },
  ];
  const cases = draftCasesFromSession({ ...session, segments }, [
    turn(1, 'a', null),
    turn(2, 'b', null),
    turn(3, 'c', null),
  ]);
  expect(cases.map(({ history = [] }) => history.length)).toEqual([0, 0, 2]);
});

import { expect, test } from 'vitest';
import { createSession } from '../../../src/domain/conversation-session.ts';
import { draftCases, draftFromSession } from '../../../src/evaluation/cases/draft-cases.ts';
import type { RecordedTurn } from '../../../src/ports/session-store.ts';

const chunk = (name: string, heading: string, text: string) => ({
  url: `file:///book/ros2/${name}.md`,
  title: 'Nodes',
  headings: ['Nodes', heading],
  text,
});

test('a definition becomes a question that its own words answer', () => {
  const [first] = draftCases(
    [
      chunk(
        'nodes',
        'Basics',
        'These are simple. A lifecycle node is a node with managed states that a launch file drives.',
      ),
    ],
    5,
    1,
  );
  expect(first).toMatchObject({
    id: 'draft-001',
    question: 'What is lifecycle node?',
    expectedSources: ['ros2/nodes.md'],
    expectedPhrases: ['a node with managed states that'],
    answerable: true,
    tags: ['draft', 'definition'],
  });
});

test('a heading becomes a question where nothing is defined', () => {
  const questions = draftCases(
    [
      chunk('a', 'Installing packages', 'Run the installer and wait until it has finished.'),
      chunk('b', 'Why does it stop?', 'Batteries run empty after some two hours of driving.'),
    ],
    5,
    1,
  ).map(({ question }) => question);
  expect(questions).toContain('How do I install packages?');
  expect(questions).toContain('Why does it stop?');
});

test('long documents do not crowd out short ones, and no question is asked twice', () => {
  const long = Array.from({ length: 20 }, (_, index) =>
    chunk('long', `Part ${index}`, `Wheels of kind ${index} turn as long as there is current.`),
  );
  const short = chunk('short', 'Alone', 'Motors stop when the current is switched off.');
  const drafts = draftCases([...long, short, short], 2, 1);
  expect(drafts.flatMap(({ expectedSources = [] }) => expectedSources).sort()).toEqual([
    'ros2/long.md',
    'ros2/short.md',
  ]);
});

test('drafts end with questions that do not belong, so that refusing and not searching are measured', () => {
  const drafts = draftCases([chunk('a', 'Alone', 'Motors stop when the current is switched off.')], 1, 1);
  expect(drafts.some(({ answerable }) => answerable === false)).toBe(true);
  expect(drafts.some(({ needsRetrieval }) => needsRetrieval === false)).toBe(true);
});

test('nothing is drafted from text without a sentence, and the same seed drafts the same', () => {
  expect(draftCases([chunk('a', 'Table', '| a | b |')], 5, 1)).toEqual([]);
  const chunks = Array.from({ length: 9 }, (_, index) =>
    chunk(`d${index}`, `Part ${index}`, `Wheels ${index} turn as long as they can.`),
  );
  expect(draftCases(chunks, 4, 3)).toEqual(draftCases(chunks, 4, 3));
  expect(draftCases(chunks, 4, 3)).not.toEqual(draftCases(chunks, 4, 4));
});

function turn(
  turnNumber: number,
  answer: string,
  feedback: RecordedTurn['feedback'],
  urls: string[] = [],
): RecordedTurn {
  const citations = urls.map((url) => ({ url, verdict: 'supported' }));
  const response = { answer, turnNumber, citations, retrievalPerformed: urls.length > 0 };
  // A whole turn has three dozen fields; drafting reads these.
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

test('what people thought of answers becomes gold', () => {
  const [good, refusal, bad, unjudged] = draftFromSession(session, [
    turn(1, 'It is blue.', judged('good'), ['file:///book/ros2/nodes.md', 'file:///book/ros2/nodes.md']),
    turn(2, "I don't have information about red.", judged('good')),
    turn(3, 'It is green.', judged('bad', 'outdated'), ['file:///book/old.md']),
    turn(4, 'It is grey.', null),
  ]);
  expect(good).toMatchObject({ id: '01234567-1', expectedSources: ['ros2/nodes.md'], answerable: true });
  expect(good?.history).toBeUndefined();
  expect(refusal).toMatchObject({
    answerable: false,
    history: [{ role: 'user', content: 'Question 1?' }, { role: 'assistant' }],
  });
  expect(bad).not.toHaveProperty('expectedSources');
  expect(bad?.note).toBe('A person found bad (outdated): It is green.');
  expect(unjudged?.tags).toEqual(['draft', 'unjudged']);
});

test('a reset ends the history', () => {
  const segments = [
    {
      turnCount: 1,
      retrievalCount: 0,
      totalTokensUsed: 0,
      messageCount: 3,
      closedAt: '2026-01-01T00:00:00Z',
    },
  ];
  const cases = draftFromSession({ ...session, segments }, [
    turn(1, 'a', null),
    turn(2, 'b', null),
    turn(3, 'c', null),
  ]);
  expect(cases.map(({ history = [] }) => history.length)).toEqual([0, 0, 2]);
});

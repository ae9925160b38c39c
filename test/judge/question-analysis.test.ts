import { expect, test } from 'vitest';
import {
  classifyQuestion,
  hasAnswerKind,
  hasMissingName,
  type QuestionKind,
} from '../../src/judge/question-analysis.ts';
import { indexTerms } from '../../src/text/terms.ts';

test.each<[QuestionKind, string]>([
  ['number', 'How many wheels does it have?'],
  ['number', 'Which port does it listen on?'],
  ['time', 'When was it built?'],
  ['time', 'In what year was it built?'],
  ['person', 'Who built it?'],
  ['person', 'Whose is it?'],
  ['place', '  WHERE is it kept?'],
  ['place', 'In which city is it kept?'],
  ['reason', 'Why does it stop?'],
  ['reason', 'What causes it to stop?'],
  ['command', 'How do I start it?'],
  ['command', 'What is the flag for that?'],
  ['way', 'And how does it start?'],
  ['yes or no', 'Does it start by itself?'],
  ['other', 'What is it?'],
  ['other', ''],
])('asks for %s: %s', (kind, question) => {
  expect(classifyQuestion(question)).toBe(kind);
});

test('rates whether a unit has the kind of answer', () => {
  const holds = (asked: QuestionKind, text: string, rest = {}) =>
    hasAnswerKind(asked, { kind: 'sentence', text, newNames: 0, ...rest });
  expect([
    holds('number', 'It has 4.'),
    holds('number', 'It has four.'),
    holds('number', 'It has some.'),
  ]).toEqual([1, 1, 0]);
  expect([holds('time', 'It was in May 1999.'), holds('time', 'It was so.')]).toEqual([1, 0]);
  expect([holds('reason', 'Because it is so.'), holds('reason', 'It is so.')]).toEqual([1, 0]);
  for (const asked of ['person', 'place'] as const)
    expect([holds(asked, '', { newNames: 1 }), holds(asked, '')]).toEqual([1, 0]);
  expect(['code', 'steps', 'sentence'].map((kind) => holds('command', 'Run it.', { kind }))).toEqual([
    1, 1, 0.5,
  ]);
  expect([holds('way', 'Run it.', { kind: 'code' }), holds('other', '4')]).toEqual([0.5, 0.5]);
});

const terms = new Set(indexTerms('The Kalman filter of the actor critic estimates orientation.'));

test('finds names and identifiers that the passages lack', () => {
  expect(hasMissingName('How does the Kalman filter work?', terms)).toBe(false);
  expect(hasMissingName('Is the Actor-Critic fast?', terms)).toBe(false);
  expect(hasMissingName('How does the Madgwick filter work?', terms)).toBe(true);
  expect(hasMissingName('When is `spin_once` called?', terms)).toBe(true);
});

test('ignores numbers, hosts and short words of the user', () => {
  expect(hasMissingName('Why does my PC at host.example.com send 404 on 10.0.0.1?', terms)).toBe(false);
});

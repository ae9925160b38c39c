import { expect, test } from 'vitest';
import { meetsNeeds } from '../../../src/adapters/offline/question-needs.ts';

test.each<[question: string, lacks: string, has: string]>([
  ['How many wheels does it have?', 'It has wheels.', 'It has four wheels.'],
  ['Which port does it listen on?', 'It listens on a port of version 2.', 'It listens on 8080.'],
  ['When was it released?', 'It was released later.', 'It was released in May 2021.'],
  ['What is the command to start it?', 'Start it first.', 'Start it:\n\n```sh\nrun it\n```'],
  ['What is the flag for that?', 'There is a flag.', 'Use --quiet.'],
  ['What is the difference between a topic and a service?', 'A topic is a stream.', 'Topics and services.'],
  ['uv vs pip', 'Use uv.', 'Use uv or pip.'],
])('needs what it asks for: %s', (question, lacks, has) => {
  expect([meetsNeeds(question, lacks), meetsNeeds(question, has)]).toEqual([false, true]);
});

test('needs nothing for other questions', () => {
  expect(meetsNeeds('What is a topic?', 'A topic is a stream.')).toBe(true);
  expect(meetsNeeds('When should I use a topic?', 'For streams.')).toBe(true);
});

import { expect, test } from 'vitest';
import { CLOSEST_PASSAGES, noInformationAbout } from '../../src/domain/abstention.ts';
import {
  type AgentResponse,
  agentResponseSchema,
  classifyOutcome,
  HIGH_CONFIDENCE_THRESHOLD,
  isGrounded,
  toConfidence,
} from '../../src/domain/agent-response.ts';
import { AppError } from '../../src/faults/app-error.ts';
import { toErrorResponse } from '../../src/faults/error-response.ts';
import { citation, NOW, SESSION_ID } from './arbitraries.ts';

const response: AgentResponse = {
  answer: 'A node publishes messages on a topic [1].',
  citations: [citation()],
  query: 'What is a topic?',
  sessionId: SESSION_ID,
  turnNumber: 1,
  retrievalPerformed: true,
  retrievalCount: 1,
  retrievedSources: ['https://docs.test/topics'],
  model: 'offline',
  tokensUsed: { prompt: 10, completion: 5, total: 15 },
  outcome: 'answer',
  grounded: true,
  confidence: 'high',
  sentences: [],
  checkedBy: 'judge',
  answerProbability: 0.8,
  finishReason: 'stop',
  retrievalTimeMs: 3,
  generationTimeMs: 4,
  totalTimeMs: 7,
  error: null,
  timestamp: NOW,
};

test('confidence is high from its bar on, low below it or where nobody can tell, and none when nothing came back', () => {
  expect(toConfidence(true, HIGH_CONFIDENCE_THRESHOLD)).toBe('high');
  expect(toConfidence(true, HIGH_CONFIDENCE_THRESHOLD - 0.01)).toBe('low');
  expect(toConfidence(true, null)).toBe('low');
  expect(toConfidence(false, null)).toBe('none');
});

test('a record of an earlier version is read: its sentences are not known, and words alone were looked at', () => {
  const { sentences: _, checkedBy: __, answerProbability: ___, ...earlier } = response;
  expect(agentResponseSchema.parse(earlier)).toEqual({
    ...earlier,
    sentences: [],
    checkedBy: 'words',
    answerProbability: null,
  });
});

test('whether a record of an earlier version holds an answer is told by its words', () => {
  const { outcome: _, ...earlier } = response;
  expect(agentResponseSchema.parse(earlier).outcome).toBe('answer');
  const refusal = { ...earlier, answer: noInformationAbout('parameters'), grounded: false };
  expect(agentResponseSchema.parse(refusal).outcome).toBe('none');
});

test('an answer is grounded when a citation passed', () => {
  expect(isGrounded('answer', [citation({ verdict: 'unsupported' }), citation()])).toBe(true);
  expect(isGrounded('answer', [citation({ verdict: 'quoted' })])).toBe(true);
  expect(isGrounded('answer', [citation({ verdict: 'weak' })])).toBe(false);
  expect(isGrounded('answer', [])).toBe(false);
});

test('the closest passages and an answer that says it has no information are not grounded, whatever they cite', () => {
  expect(isGrounded('passages', [citation({ verdict: 'quoted' })])).toBe(false);
  expect(isGrounded('none', [citation()])).toBe(false);
  expect(agentResponseSchema.safeParse({ ...response, outcome: 'passages' }).success).toBe(false);
});

test('an answer says by how it opens what it comes to', () => {
  expect(classifyOutcome(response.answer)).toBe('answer');
  expect(classifyOutcome(noInformationAbout('parameters'))).toBe('none');
  expect(classifyOutcome('Not covered in the documents.')).toBe('none');
  expect(classifyOutcome(`${CLOSEST_PASSAGES}\n\nA node publishes messages. [1]`)).toBe('passages');
  expect(classifyOutcome('Das Handbuch schweigt dazu.', ['schweigt dazu'])).toBe('none');
  expect(classifyOutcome('Das Handbuch sagt es [1].', ['schweigt dazu'])).toBe('answer');
});

test('a response cannot claim to be grounded without a citation that passed', () => {
  expect(agentResponseSchema.parse(response)).toEqual(response);
  expect(agentResponseSchema.safeParse({ ...response, citations: [] }).success).toBe(false);
  expect(agentResponseSchema.safeParse({ ...response, citations: [], grounded: false }).success).toBe(true);
});

test('an answer is blank only where an error says why, and sources are addresses', () => {
  const failure = toErrorResponse(new AppError('api_error', 'It was cut.'));
  const blank = { ...response, answer: ' ', grounded: false };
  expect(agentResponseSchema.safeParse(blank).success).toBe(false);
  expect(agentResponseSchema.safeParse({ ...blank, error: failure }).success).toBe(true);
  expect(agentResponseSchema.safeParse({ ...response, retrievedSources: ['http://['] }).success).toBe(false);
});

test('turns are numbered from 1, and the session id is a UUID of version 4', () => {
  expect(agentResponseSchema.safeParse({ ...response, turnNumber: 0 }).success).toBe(false);
  expect(agentResponseSchema.safeParse({ ...response, sessionId: 'session' }).success).toBe(false);
});

test('retrievalPerformed agrees with the count', () => {
  expect(agentResponseSchema.safeParse({ ...response, retrievalCount: 0 }).success).toBe(false);
});

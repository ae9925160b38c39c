import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type AgentResponse,
  agentResponseSchema,
  confidenceOf,
  isGrounded,
  noInformationAbout,
  saysNoInformation,
} from '../../src/domain/agent-response.ts';
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
  grounded: true,
  confidence: 'high',
  retrievalTimeMs: 3,
  generationTimeMs: 4,
  totalTimeMs: 7,
  error: null,
  timestamp: NOW,
};

test('confidence is high from the threshold on, low below it, and none when nothing came back', () => {
  expect(confidenceOf([0.1, 0.3], 0.3)).toBe('high');
  expect(confidenceOf([0.1, 0.29], 0.3)).toBe('low');
  expect(confidenceOf([0], 0.3)).toBe('none');
  expect(confidenceOf([], 0)).toBe('none');
});

test('confidence never falls when another result comes back', () => {
  const scores = fc.array(fc.double({ min: 0, max: 1, noNaN: true }));
  const rank = { none: 0, low: 1, high: 2 };
  fc.assert(
    fc.property(scores, scores, fc.double({ min: 0, max: 1, noNaN: true }), (some, more, threshold) => {
      return rank[confidenceOf([...some, ...more], threshold)] >= rank[confidenceOf(some, threshold)];
    }),
  );
});

test('an answer is grounded when a citation passed', () => {
  expect(isGrounded(response.answer, [citation({ verdict: 'unsupported' }), citation()])).toBe(true);
  expect(isGrounded(response.answer, [citation({ verdict: 'weak' })])).toBe(false);
  expect(isGrounded(response.answer, [])).toBe(false);
});

test('an answer that says it has no information is not grounded, whatever it cites', () => {
  expect(isGrounded(noInformationAbout('parameters'), [citation()])).toBe(false);
  expect(saysNoInformation('I’m sorry, but I do not have any information on this.')).toBe(true);
  expect(saysNoInformation("Topics carry messages [1]. I don't have information about services.")).toBe(
    false,
  );
});

test('a response cannot claim to be grounded without a citation that passed', () => {
  expect(agentResponseSchema.parse(response)).toEqual(response);
  expect(agentResponseSchema.safeParse({ ...response, citations: [] }).success).toBe(false);
  expect(agentResponseSchema.safeParse({ ...response, citations: [], grounded: false }).success).toBe(true);
});

test('turns are numbered from 1, and the session id is a UUID of version 4', () => {
  expect(agentResponseSchema.safeParse({ ...response, turnNumber: 0 }).success).toBe(false);
  expect(agentResponseSchema.safeParse({ ...response, sessionId: 'session' }).success).toBe(false);
});

test('retrievalPerformed agrees with the count', () => {
  expect(agentResponseSchema.safeParse({ ...response, retrievalCount: 0 }).success).toBe(false);
});

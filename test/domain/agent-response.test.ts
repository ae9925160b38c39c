import { expect, test } from 'vitest';
import { CLOSEST_PASSAGES_OPENING, noInformationSentence } from '../../src/domain/abstention.ts';
import {
  type AgentResponse,
  agentResponseSchema,
  classifyOutcome,
  isGrounded,
  toConfidence,
} from '../../src/domain/agent-response.ts';
import { createRetrievalContext } from '../../src/domain/retrieval-context.ts';
import { chunk, citation, NOW, SESSION_ID } from './arbitraries.ts';

const response: AgentResponse = {
  answer: 'A node publishes messages on a topic [1].',
  citations: [citation()],
  query: 'What is a topic?',
  sessionId: SESSION_ID,
  turnNumber: 1,
  retrievalPerformed: true,
  retrievalCount: 1,
  chunkCount: 0,
  retrievedSources: ['https://docs.test/topics'],
  model: 'offline',
  tokensUsed: { prompt: 10, completion: 5, total: 15 },
  outcome: 'answer',
  grounded: true,
  confidence: 'high',
  sentences: [],
  checkedBy: 'words',
  finishReason: 'stop',
  retrievalTimeMs: 3,
  generationTimeMs: 4,
  totalTimeMs: 7,
  error: null,
  timestamp: NOW,
};

test('confidence is high from the threshold on, low below it, none without results', () => {
  const found = (scores: number[], nearMiss: number | null = null) =>
    createRetrievalContext({
      query: 'q',
      scoreThreshold: 0.3,
      queryTimeMs: 1,
      retrievedAt: NOW,
      chunks: scores.map((score) => chunk({ score })),
      nearMiss: nearMiss === null ? null : chunk({ score: nearMiss }),
    });
  expect(toConfidence([found([0.2]), found([0.3])])).toBe('high');
  expect(toConfidence([found([0.2])])).toBe('low');
  expect(toConfidence([found([], 0.1)])).toBe('low');
  expect(toConfidence([found([])])).toBe('none');
  expect(toConfidence([])).toBe('none');
});

test('reads a record without sentences', () => {
  const { sentences: _, checkedBy: __, ...earlier } = response;
  expect(agentResponseSchema.parse(earlier)).toEqual({
    ...earlier,
    sentences: [],
    checkedBy: 'words',
  });
});

test('derives the outcome of a record without one from its answer', () => {
  const { outcome: _, ...earlier } = response;
  expect(agentResponseSchema.parse(earlier).outcome).toBe('answer');
  const refusal = { ...earlier, answer: noInformationSentence('parameters'), grounded: false };
  expect(agentResponseSchema.parse(refusal).outcome).toBe('none');
});

test('an answer with a passed citation is grounded', () => {
  expect(isGrounded('answer', [citation({ verdict: 'unsupported' }), citation()])).toBe(true);
  expect(isGrounded('answer', [citation({ verdict: 'quoted' })])).toBe(true);
  expect(isGrounded('answer', [])).toBe(false);
});

test('closest passages and answers without information are never grounded', () => {
  expect(isGrounded('passages', [citation({ verdict: 'quoted' })])).toBe(false);
  expect(isGrounded('none', [citation()])).toBe(false);
  expect(agentResponseSchema.safeParse({ ...response, outcome: 'passages' }).success).toBe(false);
});

test('classifies the outcome by the first sentence', () => {
  expect(classifyOutcome(response.answer)).toBe('answer');
  expect(classifyOutcome(noInformationSentence('parameters'))).toBe('none');
  expect(classifyOutcome('Not covered in the documents.')).toBe('none');
  expect(classifyOutcome(`${CLOSEST_PASSAGES_OPENING}\n\nA node publishes messages. [1]`)).toBe('passages');
  expect(classifyOutcome('Das Handbuch schweigt dazu.', ['schweigt dazu'])).toBe('none');
  expect(classifyOutcome('Das Handbuch sagt es [1].', ['schweigt dazu'])).toBe('answer');
});

test('rejects a grounded response without a passed citation', () => {
  expect(agentResponseSchema.parse(response)).toEqual(response);
  expect(agentResponseSchema.safeParse({ ...response, citations: [] }).success).toBe(false);
  expect(agentResponseSchema.safeParse({ ...response, citations: [], grounded: false }).success).toBe(true);
});

test('rejects sources that are not URLs', () => {
  expect(agentResponseSchema.safeParse({ ...response, retrievedSources: ['http://['] }).success).toBe(false);
});

test('turn numbers start at 1, and session ids are UUIDs of version 4', () => {
  expect(agentResponseSchema.safeParse({ ...response, turnNumber: 0 }).success).toBe(false);
  expect(agentResponseSchema.safeParse({ ...response, sessionId: 'session' }).success).toBe(false);
});

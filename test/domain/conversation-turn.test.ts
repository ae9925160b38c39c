import { expect, test } from 'vitest';
import {
  conversationTurnSchema,
  secondsBetween,
  toAnswerEntry,
  toSearchEntry,
  withCitedChunks,
} from '../../src/domain/conversation-turn.ts';
import { createRetrievalContext } from '../../src/domain/retrieval-context.ts';
import { chunk, citation, NOW } from './arbitraries.ts';

const context = createRetrievalContext({
  query: 'topics',
  chunks: [chunk(), chunk({ chunkId: 'chunk-2', contentHash: 'hash-2' })],
  filter: { module: ['basics'] },
  scoreThreshold: 0.3,
  queryTimeMs: 1,
  retrievedAt: NOW,
});

test('the ledger has the search, chunks and citations of every step', () => {
  const ledger = withCitedChunks(
    [toSearchEntry(1, context), toAnswerEntry(2)],
    [citation({ chunkId: 'chunk-2' })],
  );
  expect(ledger).toEqual([
    {
      step: 1,
      searched: true,
      query: 'topics',
      filter: { module: ['basics'] },
      chunks: [
        { chunkId: 'chunk-1', contentHash: 'hash-1' },
        { chunkId: 'chunk-2', contentHash: 'hash-2' },
      ],
      cited: ['chunk-2'],
    },
    { step: 2, searched: false },
  ]);
});

test('a duration is never zero', () => {
  expect(secondsBetween(1000, 1000)).toBeGreaterThan(0);
  expect(secondsBetween(1000, 2500)).toBe(1.5);
  expect(conversationTurnSchema.shape.durationSeconds.safeParse(0).success).toBe(false);
});

import { beforeAll, describe, expect, test } from 'vitest';
import type { Reranker } from '../../src/ports/reranker.ts';

const DOCUMENTS = [
  'The café serves coffee.',
  'ROS 2 nodes exchange messages over topics.',
  'A robot is a machine that senses, decides and acts.',
  'Messages over topics have a type.',
];
const QUERY = 'How do nodes exchange messages over topics?';

/** The contract of every Reranker, which is created once for the suite. */
export function describeReranker(name: string, createReranker: () => Promise<Reranker>): void {
  describe(name, () => {
    let reranker: Reranker;

    beforeAll(async () => {
      reranker = await createReranker();
    });

    test('has an id and limits', () => {
      expect(reranker.id).toMatch(/\S/);
      expect(reranker.scoreThreshold).toBeGreaterThan(0);
      expect(reranker.scoreThreshold).toBeLessThan(1);
    });

    test('returns the best first, each once, with scores between 0 and 1', async () => {
      const ranked = await reranker.rerank(QUERY, DOCUMENTS, 3);
      expect(ranked).toHaveLength(3);
      expect(ranked[0]?.index).toBe(1);
      expect(new Set(ranked.map(({ index }) => index)).size).toBe(3);
      const scores = ranked.map(({ score }) => score);
      expect(scores).toEqual(scores.toSorted((a, b) => b - a));
      for (const score of scores) {
        expect(score).toBeGreaterThanOrEqual(0);
        expect(score).toBeLessThanOrEqual(1);
      }
    });

    test('returns no more results than documents', async () => {
      expect(await reranker.rerank(QUERY, DOCUMENTS, 50)).toHaveLength(DOCUMENTS.length);
      expect(await reranker.rerank(QUERY, [], 5)).toEqual([]);
    });

    test('returns the same order for the same call', async () => {
      const once = await reranker.rerank(QUERY, DOCUMENTS, 4);
      expect(await reranker.rerank(QUERY, DOCUMENTS, 4)).toEqual(once);
    });

    test('ranks unusual texts', async () => {
      const odd = ['', '  ', '\0', '\ud800', '\u{1f916}'];
      expect(await reranker.rerank('\ud800 robots', odd, odd.length)).toHaveLength(odd.length);
    });

    test('stops on an aborted signal, before and while ranking', async () => {
      await expect(
        reranker.rerank(QUERY, DOCUMENTS, 3, AbortSignal.abort(new Error('enough'))),
      ).rejects.toThrow('enough');
      const controller = new AbortController();
      const working = reranker.rerank(QUERY, DOCUMENTS, 3, controller.signal);
      controller.abort(new Error('enough'));
      await expect(working).rejects.toThrow('enough');
    });
  });
}

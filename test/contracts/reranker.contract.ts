import { beforeAll, describe, expect, test } from 'vitest';
import type { Reranker } from '../../src/ports/reranker.ts';

const DOCUMENTS = [
  'The café serves coffee.',
  'ROS 2 nodes exchange messages over topics.',
  'A robot is a machine that senses, decides and acts.',
  'Messages over topics have a type.',
];
const QUERY = 'How do nodes exchange messages over topics?';

/** What every Reranker must do. It is made once for the whole suite. */
export function describeReranker(name: string, createReranker: () => Promise<Reranker>): void {
  describe(name, () => {
    let reranker: Reranker;

    beforeAll(async () => {
      reranker = await createReranker();
    });

    test('it says what it is', () => {
      expect(reranker.id).toMatch(/\S/);
      expect(reranker.scoreThreshold).toBeGreaterThan(0);
      expect(reranker.scoreThreshold).toBeLessThan(1);
    });

    test('the best come first, each once, with scores between 0 and 1', async () => {
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

    test('there are never more than there are documents', async () => {
      expect(await reranker.rerank(QUERY, DOCUMENTS, 50)).toHaveLength(DOCUMENTS.length);
      expect(await reranker.rerank(QUERY, [], 5)).toEqual([]);
    });

    test('the same call gives the same order', async () => {
      const once = await reranker.rerank(QUERY, DOCUMENTS, 4);
      expect(await reranker.rerank(QUERY, DOCUMENTS, 4)).toEqual(once);
    });

    test('odd texts are ranked like any other', async () => {
      const odd = ['', '  ', '\0', '\ud800', '\u{1f916}'];
      expect(await reranker.rerank('\ud800 robots', odd, odd.length)).toHaveLength(odd.length);
    });

    test('an aborted signal stops it, before and while it works', async () => {
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

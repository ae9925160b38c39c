import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Embedder } from '../../src/ports/embedder.ts';

const TEXTS = [
  'A robot is a machine that senses, decides and acts.',
  'The café serves coffee.',
  'ROS 2 nodes exchange messages over topics.',
  'x',
  'def spin_once(node):\n    return rclpy.spin_once(node, timeout_sec=0.1)',
];

/** Rounding inside a quantized model depends on the batch. */
const SAME_MEANING = 0.95;

/** The contract of every Embedder, which is created once for the suite. */
export function describeEmbedder(name: string, createEmbedder: () => Promise<Embedder>): void {
  describe(name, () => {
    let embedder: Embedder;

    beforeAll(async () => {
      embedder = await createEmbedder();
    });

    afterAll(() => embedder.close());

    test('has an id and limits', () => {
      expect(embedder.id).toMatch(/\S/);
      expect(embedder.dimensions).toBeGreaterThan(0);
      expect(embedder.maxTokens).toBeGreaterThan(0);
      expect(embedder.batchSize).toBeGreaterThan(0);
      expect(embedder.scoreThreshold).toBeGreaterThan(0);
      expect(embedder.scoreThreshold).toBeLessThan(1);
    });

    test('returns one unit vector of the right dimensions per text', async () => {
      const vectors = await embedder.embedDocuments(TEXTS);
      expect(vectors).toHaveLength(TEXTS.length);
      for (const vector of [...vectors, await embedder.embedQuery('a question')]) {
        expect(vector).toBeInstanceOf(Float32Array);
        expect(vector).toHaveLength(embedder.dimensions);
        expect(cosine(vector, vector)).toBeCloseTo(1, 4);
      }
    });

    test('returns no vectors for no texts', async () => {
      expect(await embedder.embedDocuments([])).toEqual([]);
    });

    test('returns the same vectors for the same call', async () => {
      expect(await embedder.embedDocuments(TEXTS)).toEqual(await embedder.embedDocuments(TEXTS));
    });

    test('vectors do not depend on the batch and keep the order of the texts', async () => {
      const alone: Float32Array[] = [];
      for (const text of TEXTS) alone.push(...(await embedder.embedDocuments([text])));
      const long = Array.from({ length: 150 }, (_, index) => `word${index % 7}`).join(' ');
      const crowd = Array.from(
        { length: embedder.batchSize * 2 },
        (_, index) => `${long.slice(0, index * 9)} filler`,
      );
      const together = await embedder.embedDocuments([...crowd, ...TEXTS.toReversed()]);
      TEXTS.forEach((_, index) => {
        const crowded = together[together.length - 1 - index] as Float32Array;
        expect(cosine(alone[index] as Float32Array, crowded)).toBeGreaterThan(SAME_MEANING);
      });
    });

    test('truncates a text that is too long', async () => {
      const long = 'robot '.repeat(embedder.maxTokens * 4);
      expect(embedder.countTokens(long)).toBeGreaterThan(embedder.maxTokens);
      const [vector, longer] = await embedder.embedDocuments([long, `${long} and then something else`]);
      expect(cosine(vector as Float32Array, vector as Float32Array)).toBeCloseTo(1, 4);
      expect(cosine(vector as Float32Array, longer as Float32Array)).toBeGreaterThan(SAME_MEANING);
      expect(await embedder.embedQuery(long)).toHaveLength(embedder.dimensions);
    });

    test.each(['', '   ', '\n', '\0', '\u{1f916}\u{1f916}', '机器人', '\ud800', '[CLS] [SEP] [PAD]'])(
      'embeds the unusual text %j',
      async (text) => {
        const [vector] = await embedder.embedDocuments([text]);
        expect(cosine(vector as Float32Array, vector as Float32Array)).toBeCloseTo(1, 4);
      },
    );

    test('token counts of texts joined by a space add up', () => {
      expect(embedder.countTokens('')).toBe(0);
      expect(embedder.countTokens(' \n ')).toBe(0);
      for (const [index, text] of TEXTS.entries()) {
        const other = TEXTS[(index + 1) % TEXTS.length] ?? '';
        const sum = embedder.countTokens(text) + embedder.countTokens(other);
        for (const space of [' ', '\n\n', '\t '])
          expect(embedder.countTokens(`${text}${space}${other}`)).toBe(sum);
        expect(embedder.countTokens(text)).toBeGreaterThan(0);
      }
    });

    test('stops on an aborted signal', async () => {
      const signal = AbortSignal.abort(new Error('enough'));
      await expect(embedder.embedDocuments(TEXTS, signal)).rejects.toThrow('enough');
      await expect(embedder.embedQuery('a question', signal)).rejects.toThrow('enough');
    });

    test('stops when aborted while embedding', async () => {
      const controller = new AbortController();
      const texts = Array.from({ length: 400 }, (_, index) => `sentence ${index} `.repeat(40));
      const working = embedder.embedDocuments(texts, controller.signal);
      controller.abort(new Error('enough'));
      await expect(working).rejects.toThrow('enough');
    });

    test('supports concurrent calls', async () => {
      const calls = TEXTS.map((text) => embedder.embedQuery(text));
      const together = await Promise.all(calls);
      for (const [index, text] of TEXTS.entries()) {
        const alone = await embedder.embedQuery(text);
        expect(cosine(together[index] as Float32Array, alone)).toBeGreaterThan(SAME_MEANING);
      }
    });
  });
}

function cosine(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);
}

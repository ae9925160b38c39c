import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { windowsOf } from '../../../src/adapters/onnx/encode-tokens.ts';
import { createMiniLmEmbedder } from '../../../src/adapters/onnx/minilm-embedder.ts';
import { dotProduct } from '../../../src/domain/unit-vectors.ts';
import type { Embedder } from '../../../src/ports/embedder.ts';
import type { EncodedText, TokenEncoder } from '../../../src/ports/token-encoder.ts';
import { modelLocation } from '../../support/model-weights.ts';

let model: Embedder & TokenEncoder;

beforeAll(async () => {
  model = await createMiniLmEmbedder({ location: modelLocation() });
});

afterAll(() => model.close());

const wordAt = ({ starts, states }: EncodedText, at: number) => {
  const token = starts.indexOf(at);
  return states.subarray(token * model.dimensions, (token + 1) * model.dimensions);
};

test('a word has its place and a vector that depends on what it means there', async () => {
  const texts = ['He sat on the river bank.', 'She put money in the bank.', 'They walked along the shore.'];
  const [river, money, shore] = (await model.encodeTokens(texts)) as [EncodedText, EncodedText, EncodedText];
  const place = (index: number, word: string) => texts[index]?.indexOf(word) ?? -1;
  const bank = wordAt(river, place(0, 'bank'));
  expect(dotProduct(bank, wordAt(shore, place(2, 'shore')))).toBeGreaterThan(
    dotProduct(wordAt(money, place(1, 'bank')), wordAt(shore, place(2, 'shore'))),
  );
  expect(texts[0]?.slice(river.starts[4], river.ends[4])).toBe('river');
});

test('the vector of a text is the one that the embedder gives it, whatever else is encoded', async () => {
  const text = 'ROS 2 nodes talk over DDS.';
  const [alone] = await model.encodeTokens([text]);
  const [, beside] = await model.encodeTokens(['A longer text that comes before it, with more words.', text]);
  expect(beside?.states).toEqual(alone?.states);
  const query = await model.embedQuery(text);
  expect(dotProduct(query, alone?.vector ?? query)).toBeGreaterThan(0.9999);
});

test('nothing of a long text is lost', async () => {
  const text = Array.from({ length: 400 }, (_, index) => `word${index}`).join(' ');
  const [encoded] = await model.encodeTokens([text]);
  expect(encoded?.ends.at(-1)).toBe(text.length);
  expect(encoded?.states.length).toBe((encoded?.starts.length ?? 0) * model.dimensions);
  const [nothing] = await model.encodeTokens(['']);
  expect(nothing?.starts).toHaveLength(0);
});

test('windows take each token once, in order, and never see more than the model reads', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 3000 }), (tokens) => {
      const windows = windowsOf(tokens, 254);
      const taken = windows.flatMap(({ from, to }) => Array.from({ length: to - from }, (_, i) => from + i));
      expect(taken).toEqual(Array.from({ length: tokens }, (_, i) => i));
      for (const { start, end, from, to } of windows) {
        expect(end - start).toBeLessThanOrEqual(254);
        expect(from).toBeGreaterThanOrEqual(start);
        expect(to).toBeLessThanOrEqual(end);
      }
    }),
  );
});

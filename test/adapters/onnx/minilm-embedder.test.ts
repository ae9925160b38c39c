import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMiniLmEmbedder, splitIntoWindows } from '../../../src/adapters/onnx/minilm-embedder.ts';
import { dotProduct } from '../../../src/domain/unit-vectors.ts';
import type { Embedder } from '../../../src/ports/embedder.ts';
import type { EncodedText, TokenEncoder } from '../../../src/ports/token-encoder.ts';
import { describeEmbedder } from '../../contracts/embedder.contract.ts';
import { modelLocation } from '../../support/model-weights.ts';

const createEmbedder = () => createMiniLmEmbedder({ location: modelLocation() });

describeEmbedder('MiniLM', createEmbedder);

let embedder: Embedder & TokenEncoder;

beforeAll(async () => {
  embedder = await createEmbedder();
});

afterAll(() => embedder.close());

test.each([
  ['How can I stop the robot?', 'Press the button to halt the machine.', 'Bake the bread for an hour.'],
  ['The arm picks up the cup.', 'A manipulator grasps a mug.', 'Stock prices fell sharply today.'],
  ['Is it going to rain?', 'Tomorrow there will be showers.', 'The king moved his bishop.'],
])('%j is nearer to a paraphrase than to an unrelated sentence', async (text, paraphrase, unrelated) => {
  const query = await embedder.embedQuery(text);
  const [near, far] = (await embedder.embedDocuments([paraphrase, unrelated])) as [
    Float32Array,
    Float32Array,
  ];
  expect(dotProduct(query, near)).toBeGreaterThan(dotProduct(query, far) + 0.15);
  expect(dotProduct(query, far)).toBeLessThan(embedder.scoreThreshold);
});

test('a text has exactly the same vector alone, among others, and with several workers', async () => {
  const texts = Array.from(
    { length: 12 },
    (_, index) => `Part ${index}: ${'the arm turns its wrist '.repeat(1 + ((index * 7) % 24))}`,
  );
  const alone: Float32Array[] = [];
  for (const text of texts) alone.push(...(await embedder.embedDocuments([text])));
  expect(await embedder.embedDocuments(texts)).toEqual(alone);
  expect(await embedder.embedQuery(texts[5] ?? '')).toEqual(alone[5]);
  const bulk = await createMiniLmEmbedder({ location: modelLocation(), bulk: true });
  try {
    // The other workers start during the first round.
    for (let round = 0; round < 2; round += 1) {
      expect((await bulk.embedDocuments(texts.toReversed())).reverse()).toEqual(alone);
    }
  } finally {
    await bulk.close();
  }
});

const wordAt = ({ starts, states }: EncodedText, at: number) => {
  const token = starts.indexOf(at);
  return states.subarray(token * embedder.dimensions, (token + 1) * embedder.dimensions);
};

test('a token has a position and a vector that depends on its context', async () => {
  const texts = ['He sat on the river bank.', 'She put money in the bank.', 'They walked along the shore.'];
  const [river, money, shore] = (await embedder.encodeTokens(texts)) as [
    EncodedText,
    EncodedText,
    EncodedText,
  ];
  const positionOf = (index: number, word: string) => texts[index]?.indexOf(word) ?? -1;
  const bank = wordAt(river, positionOf(0, 'bank'));
  expect(dotProduct(bank, wordAt(shore, positionOf(2, 'shore')))).toBeGreaterThan(
    dotProduct(wordAt(money, positionOf(1, 'bank')), wordAt(shore, positionOf(2, 'shore'))),
  );
  expect(texts[0]?.slice(river.starts[4], river.ends[4])).toBe('river');
});

test('encodeTokens returns the same text vector as embedQuery, whatever else is encoded', async () => {
  const text = 'ROS 2 nodes talk over DDS.';
  const [alone] = await embedder.encodeTokens([text]);
  const [, beside] = await embedder.encodeTokens([
    'A longer text that comes before it, with more words.',
    text,
  ]);
  expect(beside?.states).toEqual(alone?.states);
  const query = await embedder.embedQuery(text);
  expect(dotProduct(query, alone?.vector ?? query)).toBeGreaterThan(0.9999);
});

test('encodes long texts completely', async () => {
  const text = Array.from({ length: 400 }, (_, index) => `word${index}`).join(' ');
  const [encoded] = await embedder.encodeTokens([text]);
  expect(encoded?.ends.at(-1)).toBe(text.length);
  expect(encoded?.states.length).toBe((encoded?.starts.length ?? 0) * embedder.dimensions);
  const [nothing] = await embedder.encodeTokens(['']);
  expect(nothing?.starts).toHaveLength(0);
});

test('windows cover each token once, in order, within the limit of the model', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 3000 }), (tokens) => {
      const windows = splitIntoWindows(tokens, 254);
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

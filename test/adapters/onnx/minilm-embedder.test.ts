import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMiniLmEmbedder } from '../../../src/adapters/onnx/minilm-embedder.ts';
import { dotProduct } from '../../../src/domain/unit-vectors.ts';
import { type Embedder, WORD_DIMENSIONS } from '../../../src/ports/embedder.ts';
import { describeEmbedder } from '../../contracts/embedder.contract.ts';
import { modelLocation } from '../../support/model-weights.ts';

const createEmbedder = () => createMiniLmEmbedder({ location: modelLocation() });

describeEmbedder('MiniLM', createEmbedder);

let embedder: Embedder;

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

test('embedWords returns the text vector and one vector of unit length per content word', async () => {
  const texts = ['The robot stopped at 3.5 m.', 'It is on and off', `${'wheel '.repeat(400)}axle`];
  const embedded = (await embedder.embedWords?.(texts)) ?? [];
  expect(embedded.map(({ vector }) => vector)).toEqual(await embedder.embedDocuments(texts));
  expect(embedded.map(({ words }) => words.length / WORD_DIMENSIONS)).toEqual([4, 0, 401]);
  const [short, , long] = embedded.map(({ words }) => words);
  for (let word = 0; word < 4; word += 1) {
    const vector = byteVectorAt(short, word);
    expect(Math.sqrt(dotProduct(vector, vector)) / 127).toBeCloseTo(1, 1);
  }
  // The model reads 254 tokens.
  expect(byteVectorAt(long, 253).some((value) => value !== 0)).toBe(true);
  expect(byteVectorAt(long, 254).every((value) => value === 0)).toBe(true);
  expect(await embedder.embedWords?.(texts.toReversed())).toEqual(embedded.toReversed());
});

test('the vector of a word is nearer to one of similar meaning in the same sense', async () => {
  const texts = ['Water the plant in the garden.', 'The plant makes steel.', 'A flower grows in the garden.'];
  const [garden, factory, flower] = ((await embedder.embedWords?.(texts)) ?? []).map(({ words }) => words);
  const [plant, works] = [byteVectorAt(garden, 1), byteVectorAt(factory, 0)];
  expect(dotProduct(plant, byteVectorAt(flower, 0))).toBeGreaterThan(
    dotProduct(works, byteVectorAt(flower, 0)),
  );
});

function byteVectorAt(words: Int8Array | undefined, index: number): Int8Array {
  return (words ?? new Int8Array()).subarray(index * WORD_DIMENSIONS, (index + 1) * WORD_DIMENSIONS);
}

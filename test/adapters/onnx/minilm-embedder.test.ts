import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMiniLmEmbedder } from '../../../src/adapters/onnx/minilm-embedder.ts';
import { dotProduct } from '../../../src/domain/unit-vectors.ts';
import type { Embedder } from '../../../src/ports/embedder.ts';
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

test('a text has the same vector to the last bit: alone or among others, in any order, in one thread or in several', async () => {
  const texts = Array.from(
    { length: 12 },
    (_, index) => `Part ${index}: ${'the arm turns its wrist '.repeat(1 + ((index * 7) % 24))}`,
  );
  const alone: Float32Array[] = [];
  for (const text of texts) alone.push(...(await embedder.embedDocuments([text])));
  expect(await embedder.embedDocuments(texts)).toEqual(alone);
  expect(await embedder.embedQuery(texts[5] ?? '')).toEqual(alone[5]);
  const forMany = await createMiniLmEmbedder({ location: modelLocation(), bulk: true });
  try {
    // The other threads join in while the first round is under way.
    for (let round = 0; round < 2; round += 1) {
      expect((await forMany.embedDocuments(texts.toReversed())).reverse()).toEqual(alone);
    }
  } finally {
    await forMany.close();
  }
});

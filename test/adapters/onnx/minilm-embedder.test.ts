import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMiniLmEmbedder } from '../../../src/adapters/onnx/minilm-embedder.ts';
import { cosine } from '../../../src/adapters/sqlite/quantize.ts';
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
  expect(cosine(query, near)).toBeGreaterThan(cosine(query, far) + 0.15);
  expect(cosine(query, far)).toBeLessThan(embedder.scoreThreshold);
});

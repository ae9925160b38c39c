import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ensureOnnxEngine } from '../../../src/adapters/onnx/engine.ts';
import { readOnnxDirectory } from '../../../src/adapters/onnx/onnx-directory.ts';
import { createOnnxReranker } from '../../../src/adapters/onnx/onnx-reranker.ts';
import { describeReranker } from '../../contracts/reranker.contract.ts';
import { createModelDirectory } from '../../support/model-directory.ts';
import { modelLocation } from '../../support/model-weights.ts';
import { countWord } from '../../support/tiny-cross-encoder.ts';
import type { TinyModel } from '../../support/tiny-onnx.ts';

async function rerankerIn(directory: string) {
  const engine = await ensureOnnxEngine(modelLocation());
  return createOnnxReranker(await readOnnxDirectory(directory), { engine, threads: 1 });
}

const shared = mkdtempSync(join(tmpdir(), 'citeloop-test-'));
afterAll(() => rmSync(shared, { recursive: true }));

describeReranker('an ONNX cross-encoder of the user', async () =>
  rerankerIn(await createModelDirectory({ directory: shared, model: countWord('nodes') })),
);

test('reads a passage together with the query and distinguishes the two', async () => {
  const reranker = await rerankerIn(await createModelDirectory({ model: countWord('robot') }));
  const ranked = await reranker.rerank(
    'robot robot robot',
    ['no word of it', 'a robot', 'robot and robot'],
    3,
  );
  expect(ranked.map(({ index }) => index)).toEqual([2, 1, 0]);
  expect(ranked[2]?.score).toBe(0.5);
  const [long] = await reranker.rerank('robot '.repeat(5000), [`robot ${'word '.repeat(5000)}`], 1);
  expect(long?.score).toBeCloseTo(1 / (1 + Math.exp(-1)), 5);
  await reranker.close();
});

test('rejects an encoder of single texts', async () => {
  const reranker = await rerankerIn(await createModelDirectory());
  await expect(reranker.rerank('a question', ['a passage'], 1)).rejects.toMatchObject({
    kind: 'configuration_error',
    message: expect.stringMatching(/is no cross-encoder: it returns \d+ numbers for a pair of texts/),
  });
  await reranker.close();
});

test('reads the probability of entailment from the labels of a classifier', async () => {
  const { nodes, ...model } = countWord('robot');
  const three: TinyModel = {
    ...model,
    nodes: [
      ...nodes.map((node) => ({
        ...node,
        outputs: node.outputs.map((name) => (name === 'logits' ? 'one' : name)),
      })),
      { op: 'Sub', inputs: ['one', 'one'], outputs: ['zero'] },
      { op: 'Concat', inputs: ['zero', 'one', 'zero'], outputs: ['logits'], attributes: { axis: 1 } },
    ],
  };
  const id2label = { 0: 'contradiction', 1: 'entailment', 2: 'neutral' };
  const directory = await createModelDirectory({ model: three, files: { 'config.json': { id2label } } });
  const reranker = await rerankerIn(directory);
  const [best, other] = await reranker.rerank('a', ['no word', 'robot robot'], 2);
  expect(best?.score).toBeCloseTo(Math.E ** 2 / (Math.E ** 2 + 2), 5);
  expect(other?.score).toBeCloseTo(1 / 3, 5);
  await reranker.close();
});

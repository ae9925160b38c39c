import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ensureOnnxEngine } from '../../../src/adapters/onnx/engine.ts';
import { readOnnxDirectory } from '../../../src/adapters/onnx/onnx-directory.ts';
import { createOnnxReranker } from '../../../src/adapters/onnx/onnx-reranker.ts';
import { describeReranker } from '../../contracts/reranker.contract.ts';
import { createModelDirectory } from '../../support/model-directory.ts';
import { modelLocation } from '../../support/model-weights.ts';
import type { TinyModel } from '../../support/tiny-onnx.ts';

/** Scores a passage by how often a word occurs in it. */
function counting(word: string): TinyModel {
  const tokenizer = readFileSync(join(modelLocation().directory, 'tokenizer.json'), 'utf8');
  const { model } = JSON.parse(tokenizer) as { model: { vocab: Record<string, number> } };
  return {
    inputs: ['input_ids', 'attention_mask', 'token_type_ids'],
    constants: { word: [model.vocab[word] ?? 0], axis: [1] },
    nodes: [
      { op: 'Equal', inputs: ['input_ids', 'word'], outputs: ['same'] },
      { op: 'Cast', inputs: ['same'], outputs: ['ones'], attributes: { to: 1 } },
      { op: 'Cast', inputs: ['token_type_ids'], outputs: ['second'], attributes: { to: 1 } },
      { op: 'Mul', inputs: ['ones', 'second'], outputs: ['counted'] },
      { op: 'ReduceSum', inputs: ['counted', 'axis'], outputs: ['logits'], attributes: { keepdims: 1 } },
    ],
    outputs: [{ name: 'logits', dimensions: 2 }],
  };
}

async function rerankerIn(directory: string) {
  const engine = await ensureOnnxEngine(modelLocation());
  return createOnnxReranker(await readOnnxDirectory(directory), { engine, threads: 1 });
}

const shared = mkdtempSync(join(tmpdir(), 'citeloop-test-'));
afterAll(() => rmSync(shared, { recursive: true }));

describeReranker('an ONNX cross-encoder of the user', async () =>
  rerankerIn(await createModelDirectory({ directory: shared, model: counting('nodes') })),
);

test('reads a passage together with the query and distinguishes the two', async () => {
  const reranker = await rerankerIn(await createModelDirectory({ model: counting('robot') }));
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

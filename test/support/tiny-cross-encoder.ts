import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { modelLocation } from './model-weights.ts';
import type { TinyModel } from './tiny-onnx.ts';

/** A cross-encoder that scores the second text by how often a word occurs in it. */
export function countWord(word: string): TinyModel {
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

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { ensureOnnxEngine } from '../../../src/adapters/onnx/engine.ts';
import { createMiniLmEmbedder } from '../../../src/adapters/onnx/minilm-embedder.ts';
import { readOnnxDirectory } from '../../../src/adapters/onnx/onnx-directory.ts';
import { createOnnxEmbedder } from '../../../src/adapters/onnx/onnx-embedder.ts';
import { describeEmbedder } from '../../contracts/embedder.contract.ts';
import { createModelDirectory } from '../../support/model-directory.ts';
import { modelLocation } from '../../support/model-weights.ts';
import type { TinyModel } from '../../support/tiny-onnx.ts';

async function embedderIn(directory: string) {
  const engine = await ensureOnnxEngine(modelLocation());
  const embedder = await createOnnxEmbedder(await readOnnxDirectory(directory), { engine });
  onTestFinished(() => embedder.close());
  return embedder;
}

const errorIn = (directory: string) =>
  embedderIn(directory).then(
    () => 'none',
    ({ kind, message }) => `${kind}: ${message.replaceAll(directory, '…')}`,
  );

const shared = mkdtempSync(join(tmpdir(), 'citeloop-test-'));
afterAll(() => rmSync(shared, { recursive: true }));

describeEmbedder('an ONNX model of the user', async () => {
  const files = { 'citeloop.json': { threshold: 0.35, maxTokens: 256 } };
  const directory = await createModelDirectory({ directory: shared, files });
  return createOnnxEmbedder(await readOnnxDirectory(directory), {
    engine: await ensureOnnxEngine(modelLocation()),
  });
});

test('the built-in model as a directory has the same vectors', async () => {
  const builtIn = await createMiniLmEmbedder({ location: modelLocation() });
  onTestFinished(() => builtIn.close());
  const custom = await embedderIn(await createModelDirectory());
  const texts = ['A robot senses and acts.', '机器人 Straße', 'x'.repeat(300)];
  expect(await custom.embedDocuments(texts)).toEqual(await builtIn.embedDocuments(texts));
  expect(custom).toMatchObject({ dimensions: 384, maxTokens: 512, scoreThreshold: 0 });
  expect(custom.id).toMatch(/^onnx:all-MiniLM-L6-v2@[\da-f]{8}$/);
});

test("pooling, prefixes and length come from the model's files, and citeloop.json overrides them", async () => {
  const directory = await createModelDirectory({
    files: {
      'modules.json': [{ type: 'sentence_transformers.models.Transformer' }, { type: 'x.Pooling' }],
      '1_Pooling/config.json': { word_embedding_dimension: 384, pooling_mode_cls_token: true },
      'sentence_bert_config.json': { max_seq_length: 128, do_lower_case: false },
      'config_sentence_transformers.json': { prompts: { query: 'query: ', document: 'passage: ' } },
    },
  });
  const described = await readOnnxDirectory(directory);
  expect(described).toMatchObject({
    pooling: 'cls',
    queryPrefix: 'query: ',
    passagePrefix: 'passage: ',
    maxTokens: 128,
  });
  const byFiles = await embedderIn(directory);
  const asQuery = await byFiles.embedQuery('robots');
  expect((await byFiles.embedDocuments(['robots']))[0]).not.toEqual(asQuery);

  const own = { pooling: 'mean', queryPrefix: '', passagePrefix: '', maxTokens: 64 };
  const overruled = await embedderIn(await createModelDirectory({ files: { 'citeloop.json': own } }));
  const plain = await embedderIn(await createModelDirectory());
  expect(await overruled.embedQuery('robots')).toEqual(await plain.embedQuery('robots'));
  expect(overruled.id).not.toBe(plain.id);
  expect(byFiles.id).not.toBe(plain.id);
});

test('a baseline sets the threshold and keeps the id of the model', async () => {
  const plain = await embedderIn(await createModelDirectory());
  const files = { 'citeloop.json': { baseline: 0.7 } };
  const measured = await embedderIn(await createModelDirectory({ files }));
  expect(plain).toMatchObject({ baseline: 0, scoreThreshold: 0 });
  expect(measured).toMatchObject({ id: plain.id, baseline: 0.7, scoreThreshold: 0.3 });
});

const ids = ['input_ids', 'attention_mask', 'token_type_ids'];
/** Returns the token ids, one dimension per token. */
const asFloats: TinyModel = {
  inputs: ids,
  nodes: [{ op: 'Cast', inputs: ['input_ids'], outputs: ['sentence_embedding'], attributes: { to: 1 } }],
  outputs: [{ name: 'sentence_embedding', dimensions: 2 }],
};

test.each([
  ['no directory', '/nonexistent/model', /no model directory …/],
  ['no weights', { model: undefined, files: { 'onnx/model_quantized.onnx': null } }, /has no ONNX file/],
  ['no tokenizer', { files: { 'tokenizer.json': null } }, /has no tokenizer.json/],
  [
    'an incomplete tokenizer',
    { files: { 'tokenizer.json': '{"model": ' } },
    /tokenizer.json cannot be used: /,
  ],
  [
    'an unknown tokenizer',
    { files: { 'tokenizer.json': { model: { type: 'Psychic' } } } },
    /tokenizer.json cannot be used: /,
  ],
  ['a config that is not JSON', { files: { 'config.json': '<html>' } }, /config.json is not valid JSON/],
  [
    'an invalid config',
    { files: { 'config.json': { hidden_size: 'large' } } },
    /config.json is invalid: hidden_size: /,
  ],
  [
    'an unknown setting',
    { files: { 'citeloop.json': { pool: 'mean' } } },
    /citeloop.json is invalid: .*pool/,
  ],
  [
    'a dense layer',
    { files: { 'modules.json': [{ type: 'sentence_transformers.models.Dense' }] } },
    /unsupported module: Dense/,
  ],
  [
    'two kinds of pooling',
    { files: { '1_Pooling/config.json': { pooling_mode_cls_token: true, pooling_mode_mean_tokens: true } } },
    /unsupported pooling/,
  ],
  [
    'a file that is no model',
    { model: Buffer.from('not a model') },
    /model.onnx cannot be loaded as a model: /,
  ],
  ['empty weights', { model: Buffer.alloc(0) }, /model.onnx cannot be loaded as a model: /],
  [
    'a model of images',
    { model: { ...asFloats, inputs: [...ids, 'pixel_values'] } },
    /unsupported input: pixel_values/,
  ],
  [
    'integer outputs only',
    {
      model: {
        inputs: ids,
        nodes: [{ op: 'Identity', inputs: ['input_ids'], outputs: ['counts'] }],
        outputs: [{ name: 'counts', dimensions: 2, type: 7 }],
      },
    },
    /no float32 vectors .*\(counts\)/,
  ],
  ['other dimensions than its config', { model: asFloats }, /has \d+ dimensions, but .* 384/],
  [
    'zero vectors',
    {
      model: {
        ...asFloats,
        nodes: [
          { op: 'Sub', inputs: ['input_ids', 'input_ids'], outputs: ['zeros'] },
          { op: 'Cast', inputs: ['zeros'], outputs: ['sentence_embedding'], attributes: { to: 1 } },
        ],
      },
    },
    /returns invalid vectors/,
  ],
] as const)('rejects a directory with %s', async (_, given, sentence) => {
  const directory =
    typeof given === 'string'
      ? given
      : await createModelDirectory(given as Parameters<typeof createModelDirectory>[0]);
  const error = await errorIn(directory);
  expect(error).toMatch(/^configuration_error: /);
  expect(error).toMatch(sentence);
});

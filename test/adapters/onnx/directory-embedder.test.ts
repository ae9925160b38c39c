import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { createDirectoryEmbedder } from '../../../src/adapters/onnx/directory-embedder.ts';
import { readEncoderDirectory, saveEncoderSettings } from '../../../src/adapters/onnx/encoder-directory.ts';
import { ensureEngine } from '../../../src/adapters/onnx/engine.ts';
import { createMiniLmEmbedder } from '../../../src/adapters/onnx/minilm-embedder.ts';
import { describeEmbedder } from '../../contracts/embedder.contract.ts';
import { modelDirectory } from '../../support/model-directory.ts';
import { modelLocation } from '../../support/model-weights.ts';
import type { TinyModel } from '../../support/tiny-onnx.ts';

async function embedderIn(directory: string) {
  const engine = await ensureEngine(modelLocation());
  const embedder = await createDirectoryEmbedder(await readEncoderDirectory(directory), { engine });
  onTestFinished(() => embedder.close());
  return embedder;
}

const faultIn = (directory: string) =>
  embedderIn(directory).then(
    () => 'none',
    ({ kind, message }) => `${kind}: ${message.replaceAll(directory, '…')}`,
  );

const shared = mkdtempSync(join(tmpdir(), 'citeloop-test-'));
afterAll(() => rmSync(shared, { recursive: true }));

describeEmbedder('a model that someone brought', async () => {
  const files = { 'citeloop.json': { threshold: 0.35, maxTokens: 256 } };
  const directory = await modelDirectory({ directory: shared, files });
  return createDirectoryEmbedder(await readEncoderDirectory(directory), {
    engine: await ensureEngine(modelLocation()),
  });
});

test('the built-in model brought as a directory gives the very same vectors', async () => {
  const builtIn = await createMiniLmEmbedder({ location: modelLocation() });
  onTestFinished(() => builtIn.close());
  const brought = await embedderIn(await modelDirectory());
  const texts = ['A robot senses and acts.', '机器人 Straße', 'x'.repeat(300)];
  expect(await brought.embedDocuments(texts)).toEqual(await builtIn.embedDocuments(texts));
  expect(brought).toMatchObject({ dimensions: 384, maxTokens: 512, scoreThreshold: 0 });
  expect(brought.id).toMatch(/^onnx:all-MiniLM-L6-v2@[\da-f]{8}$/);
});

test("pooling, prefixes and length come from the model's own files, and what is written beside it beats them", async () => {
  const directory = await modelDirectory({
    files: {
      'modules.json': [{ type: 'sentence_transformers.models.Transformer' }, { type: 'x.Pooling' }],
      '1_Pooling/config.json': { word_embedding_dimension: 384, pooling_mode_cls_token: true },
      'sentence_bert_config.json': { max_seq_length: 128, do_lower_case: false },
      'config_sentence_transformers.json': { prompts: { query: 'query: ', document: 'passage: ' } },
    },
  });
  const described = await readEncoderDirectory(directory);
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
  const overruled = await embedderIn(await modelDirectory({ files: { 'citeloop.json': own } }));
  const plain = await embedderIn(await modelDirectory());
  expect(await overruled.embedQuery('robots')).toEqual(await plain.embedQuery('robots'));
  expect(overruled.id).not.toBe(plain.id);
  expect(byFiles.id).not.toBe(plain.id);
});

test('what is fitted is kept beside the model, next to what stands there, and makes no other model of it', async () => {
  const directory = await modelDirectory({ files: { 'citeloop.json': { pooling: 'mean' } } });
  const before = await readEncoderDirectory(directory);
  const path = await saveEncoderSettings(directory, { baseline: 0.7 });
  expect(path).toBe(join(directory, 'citeloop.json'));
  expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({ pooling: 'mean', baseline: 0.7 });
  expect(await readEncoderDirectory(directory)).toEqual({ ...before, baseline: 0.7 });
  expect(await embedderIn(directory)).toMatchObject({ baseline: 0.7, scoreThreshold: 0.3 });
});

const ids = ['input_ids', 'attention_mask', 'token_type_ids'];
/** The tokens themselves, as many dimensions as there are tokens: whatever it is, no vector of a text. */
const asFloats: TinyModel = {
  inputs: ids,
  nodes: [{ op: 'Cast', inputs: ['input_ids'], outputs: ['sentence_embedding'], attributes: { to: 1 } }],
  outputs: [{ name: 'sentence_embedding', dimensions: 2 }],
};

test.each([
  ['no directory', '/nonexistent/model', /There is no directory … with a model/],
  ['no weights', { model: undefined, files: { 'onnx/model_quantized.onnx': null } }, /holds no ONNX file/],
  [
    'two weights',
    { files: { 'onnx/model_quantized.onnx': null, 'a.onnx': 'x', 'b.onnx': 'x' } },
    /holds several ONNX files, and none of them is called model.onnx/,
  ],
  [
    'weights outside',
    { files: { 'citeloop.json': { weights: '../other.onnx' } } },
    /does not hold: \.\.\/other/,
  ],
  ['no tokenizer', { files: { 'tokenizer.json': null } }, /holds no tokenizer.json/],
  ['half a tokenizer', { files: { 'tokenizer.json': '{"model": ' } }, /tokenizer.json cannot be used: /],
  [
    'another tokenizer',
    { files: { 'tokenizer.json': { model: { type: 'Psychic' } } } },
    /tokenizer.json cannot be used: /,
  ],
  ['a config that is none', { files: { 'config.json': '<html>' } }, /config.json is not valid JSON/],
  [
    'a strange config',
    { files: { 'config.json': { hidden_size: 'large' } } },
    /config.json is not as expected: hidden_size: /,
  ],
  [
    'an unknown setting',
    { files: { 'citeloop.json': { pool: 'mean' } } },
    /citeloop.json is not as expected: .*pool/,
  ],
  [
    'a dense layer',
    { files: { 'modules.json': [{ type: 'sentence_transformers.models.Dense' }] } },
    /has a step that is not known here: Dense/,
  ],
  [
    'pooling of two kinds',
    { files: { '1_Pooling/config.json': { pooling_mode_cls_token: true, pooling_mode_mean_tokens: true } } },
    /pools its tokens in a way that is not known here/,
  ],
  [
    'dot products',
    { files: { 'config_sentence_transformers.json': { similarity_fn_name: 'dot' } } },
    /was made to be compared by dot products/,
  ],
  [
    'weights that are none',
    { model: Buffer.from('not a model') },
    /model.onnx cannot be loaded as a model: /,
  ],
  ['empty weights', { model: Buffer.alloc(0) }, /model.onnx cannot be loaded as a model: /],
  [
    'a model of pictures',
    { model: { ...asFloats, inputs: [...ids, 'pixel_values'] } },
    /wants an input that citeloop does not have for it: pixel_values/,
  ],
  [
    'a model that counts',
    {
      model: {
        inputs: ids,
        nodes: [{ op: 'Identity', inputs: ['input_ids'], outputs: ['counts'] }],
        outputs: [{ name: 'counts', dimensions: 2, type: 7 }],
      },
    },
    /gives no vectors of 32-bit numbers \(it gives counts\)/,
  ],
  [
    'other dimensions than are said',
    { model: asFloats },
    /gives \d+ dimensions, and the files beside it say 384/,
  ],
  [
    'no numbers',
    {
      model: {
        ...asFloats,
        nodes: [
          { op: 'Sub', inputs: ['input_ids', 'input_ids'], outputs: ['zeros'] },
          { op: 'Cast', inputs: ['zeros'], outputs: ['sentence_embedding'], attributes: { to: 1 } },
        ],
      },
    },
    /gives something other than numbers/,
  ],
] as const)('a directory with %s is refused in one sentence', async (_, brought, sentence) => {
  const directory =
    typeof brought === 'string'
      ? brought
      : await modelDirectory(brought as Parameters<typeof modelDirectory>[0]);
  const fault = await faultIn(directory);
  expect(fault).toMatch(/^configuration_error: /);
  expect(fault).toMatch(sentence);
});

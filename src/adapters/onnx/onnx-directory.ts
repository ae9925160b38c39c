import { createHash, type Hash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { open, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import * as z from 'zod';
import { advice, viaCommand } from '../../faults/advice.ts';
import { AppError, messageOf } from '../../faults/app-error.ts';
import { parseJson } from '../../text/parse-json.ts';
import type { Pooling } from './model-threads.ts';

/** Settings that the user writes for a model whose own files lack them. */
export const ONNX_SETTINGS_FILE = 'citeloop.json';

/** In order of preference: full precision first. */
const WEIGHT_FILES = ['model.onnx', 'model_fp16.onnx', 'model_quantized.onnx', 'model_int8.onnx'];
const WEIGHT_FOLDERS = ['onnx', ''];
/** Longer passages are found less well and cost more, even if the model can read them. */
const MAX_TOKENS = 512;

const share = z.number().min(0).max(1);
const settingsSchema = z.strictObject({
  pooling: z.enum(['mean', 'max', 'cls', 'last']).optional(),
  queryPrefix: z.string().optional(),
  passagePrefix: z.string().optional(),
  maxTokens: z.int().min(16).optional(),
  /** The cosine of unrelated texts. */
  baseline: share.max(0.99).optional(),
  threshold: share.optional(),
});

/** A model that the user provides, as its files describe it. */
export interface OnnxDirectory {
  directory: string;
  /** Its name with a hash of everything that its vectors depend on. */
  id: string;
  weights: string;
  /** Undefined if no file says it: then the model's sentence embedding is used if it has one, or else the mean. */
  pooling: Pooling | undefined;
  queryPrefix: string;
  passagePrefix: string;
  maxTokens: number;
  /** Undefined if no file says it. */
  dimensions: number | undefined;
  baseline: number | undefined;
  threshold: number | undefined;
  /** The index of the output for entailment, if the labels of a classifier have one. */
  entailment: number | undefined;
}

const configSchema = z.object({
  hidden_size: z.int().optional(),
  max_position_embeddings: z.int().optional(),
  _name_or_path: z.string().optional(),
  id2label: z.record(z.string(), z.string()).optional(),
});
const poolingSchema = z.object({
  word_embedding_dimension: z.int().optional(),
  pooling_mode_cls_token: z.boolean().optional(),
  pooling_mode_mean_tokens: z.boolean().optional(),
  pooling_mode_max_tokens: z.boolean().optional(),
  pooling_mode_lasttoken: z.boolean().optional(),
});
const transformerSchema = z.object({ max_seq_length: z.int().nullish() });
const tokenizerSchema = z.object({ model_max_length: z.number().nullish() });
const sentenceSchema = z.object({ prompts: z.record(z.string(), z.string()).nullish() });
const modulesSchema = z.array(z.object({ type: z.string() }));

/** Reads the files of a model. Throws `configuration_error` for one that cannot be used. */
export async function readOnnxDirectory(directory: string): Promise<OnnxDirectory> {
  const found = await stat(directory).catch(() => null);
  if (!found?.isDirectory()) {
    throw new AppError('configuration_error', `There is no model directory ${directory}.`, {
      hint: advice`Give a directory with tokenizer.json and the ONNX file, or add one${viaCommand('encoders add <repository>')}`,
    });
  }
  const read = <T>(file: string, schema: z.ZodType<T>) => readJson(join(directory, file), schema);
  const own = (await read(ONNX_SETTINGS_FILE, settingsSchema)) ?? {};
  const config = await read('config.json', configSchema);
  const flags = await read('1_Pooling/config.json', poolingSchema);
  const sentence = await read('config_sentence_transformers.json', sentenceSchema);
  refuseUnknownModules(directory, (await read('modules.json', modulesSchema)) ?? []);
  const weights = findWeights(directory);
  const described = {
    pooling: own.pooling ?? readPooling(directory, flags),
    queryPrefix: own.queryPrefix ?? sentence?.prompts?.query ?? '',
    passagePrefix: own.passagePrefix ?? sentence?.prompts?.passage ?? sentence?.prompts?.document ?? '',
    maxTokens: own.maxTokens ?? (await readMaxTokens(read, config?.max_position_embeddings)),
    dimensions: flags?.word_embedding_dimension ?? config?.hidden_size,
  };
  if (!existsSync(join(directory, 'tokenizer.json'))) {
    throw new AppError('configuration_error', `${directory} has no tokenizer.json.`, {
      hint: 'Add it from the files of the model. A vocab.txt alone is not enough.',
    });
  }
  const name = basename(config?._name_or_path || directory);
  const hash = await hashModel([weights, join(directory, 'tokenizer.json')], JSON.stringify(described));
  return {
    ...described,
    directory,
    id: `onnx:${name}@${hash}`,
    weights,
    baseline: own.baseline,
    threshold: own.threshold,
    entailment: findEntailment(config?.id2label ?? {}),
  };
}

function findEntailment(labels: Readonly<Record<string, string>>): number | undefined {
  const found = Object.entries(labels).find(([, label]) => /^entail/i.test(label));
  return found && Number(found[0]);
}

/** Null if the file does not exist. */
async function readJson<T>(path: string, schema: z.ZodType<T>): Promise<T | null> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw new AppError('configuration_error', `${path} cannot be read (${messageOf(error)}).`);
  });
  if (text === null) return null;
  const value = parseJson(text);
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const where = issue?.path.length ? `${issue.path.join('.')}: ` : '';
  throw new AppError(
    'configuration_error',
    value === undefined ? `${path} is not valid JSON.` : `${path} is invalid: ${where}${issue?.message}.`,
    { hint: 'Download the files of the model again, or correct this one.' },
  );
}

function readPooling(directory: string, flags: z.infer<typeof poolingSchema> | null): Pooling | undefined {
  if (flags === null) return undefined;
  const chosen = (['cls_token', 'mean_tokens', 'max_tokens', 'lasttoken'] as const).filter(
    (mode) => flags[`pooling_mode_${mode}`],
  );
  const [mode] = chosen;
  if (mode === undefined || chosen.length > 1) {
    throw new AppError('configuration_error', `The model in ${directory} uses an unsupported pooling.`, {
      hint: `Set "pooling" in ${ONNX_SETTINGS_FILE} beside it to mean, max, cls or last.`,
    });
  }
  return ({ cls_token: 'cls', mean_tokens: 'mean', max_tokens: 'max', lasttoken: 'last' } as const)[mode];
}

/** Pooling and normalization are applied here; other modules may be missing from the ONNX file. */
function refuseUnknownModules(directory: string, used: z.infer<typeof modulesSchema>): void {
  const other = used.find(({ type }) => !/\.(Transformer|Pooling|Normalize)$/.test(type));
  if (other === undefined) return;
  throw new AppError(
    'configuration_error',
    `The model in ${directory} has an unsupported module: ${other.type.split('.').at(-1)}.`,
    { hint: 'Supported are models of a transformer, pooling and normalization.' },
  );
}

async function readMaxTokens(
  read: <T>(file: string, schema: z.ZodType<T>) => Promise<T | null>,
  positions: number | undefined,
): Promise<number> {
  const transformer = await read('sentence_bert_config.json', transformerSchema);
  const tokenizer = await read('tokenizer_config.json', tokenizerSchema);
  // A tokenizer without a limit has a huge number as its limit.
  const lengths = [transformer?.max_seq_length, tokenizer?.model_max_length, positions];
  return Math.min(lengths.find((length) => length && length < 1e6) ?? MAX_TOKENS, MAX_TOKENS);
}

function findWeights(directory: string): string {
  const usual = WEIGHT_FOLDERS.flatMap((folder) => WEIGHT_FILES.map((file) => join(directory, folder, file)));
  const folders = WEIGHT_FOLDERS.map((folder) => join(directory, folder)).filter(existsSync);
  const others = folders.flatMap((folder) => readdirSync(folder).map((file) => join(folder, file)));
  const [only, ...more] = others.filter((path) => path.endsWith('.onnx'));
  const found = usual.find((path) => existsSync(path)) ?? (more.length === 0 ? only : undefined);
  if (found !== undefined) return found;
  throw new AppError('configuration_error', `${directory} has no ONNX file with a usual name.`, {
    hint: 'Rename the file of the model to model.onnx.',
  });
}

/** Identifies a model, so that vectors of different models are never compared. */
async function hashModel(files: readonly string[], settings: string): Promise<string> {
  const hash = createHash('sha256').update(settings);
  for (const path of files) await addSamples(hash, path);
  return hash.digest('hex').slice(0, 8);
}

const SAMPLES = 64;
const SAMPLE_BYTES = 64 * 1024;

/** Adds the size of a file and evenly spaced samples to a hash, which takes equally long for the largest models. */
async function addSamples(hash: Hash, path: string): Promise<void> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    hash.update(`\n${size}\n`);
    const step = Math.max(SAMPLE_BYTES, Math.floor(size / SAMPLES));
    const buffer = Buffer.alloc(SAMPLE_BYTES);
    for (let position = 0; position < size; position += step) {
      const { bytesRead } = await file.read(buffer, 0, SAMPLE_BYTES, position);
      hash.update(buffer.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}

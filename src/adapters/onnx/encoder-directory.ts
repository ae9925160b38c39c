import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, isAbsolute, join, normalize } from 'node:path';
import * as z from 'zod';
import { AppError, messageOf } from '../../faults/app-error.ts';
import { writeFileAtomic } from '../../files/write-file-atomic.ts';
import { addSamples } from '../files/sample-file.ts';
import type { Pooling } from './model-threads.ts';

/** What someone writes beside a model whose own files do not say it. */
export const SETTINGS_FILE = 'citeloop.json';

/** Looked for in this order: what is whole before what was made smaller. */
const WEIGHTS = ['model.onnx', 'model_fp16.onnx', 'model_quantized.onnx', 'model_int8.onnx'];
const FOLDERS = ['onnx', ''];
/** Longer passages would be found less well and cost more, whatever the model could read. */
const MOST_TOKENS = 512;

const share = z.number().min(0).max(1);
const settingsSchema = z.strictObject({
  /** The file of the weights, where there are several. */
  weights: z.string().min(1).optional(),
  pooling: z.enum(['mean', 'max', 'cls', 'last']).optional(),
  queryPrefix: z.string().optional(),
  passagePrefix: z.string().optional(),
  /** Vectors are compared by their direction alone; true says that this suits a model that was made otherwise. */
  normalize: z.literal(true).optional(),
  maxTokens: z.int().min(16).optional(),
  dimensions: z.int().min(1).optional(),
  /** The cosine of texts that have nothing to do with each other. */
  baseline: share.max(0.99).optional(),
  threshold: share.optional(),
});
export type EncoderSettings = z.infer<typeof settingsSchema>;

/** A model that someone brought, as its files describe it. */
export interface EncoderDirectory {
  directory: string;
  /** What it is called, and what its vectors depend on. */
  id: string;
  weights: string;
  /** Undefined where nothing says it: then what the model gives for a whole text is taken, or the mean. */
  pooling: Pooling | undefined;
  queryPrefix: string;
  passagePrefix: string;
  maxTokens: number;
  /** Undefined where only the model itself knows. */
  dimensions: number | undefined;
  baseline: number | undefined;
  threshold: number | undefined;
}

const sizes = z.object({
  hidden_size: z.int().optional(),
  max_position_embeddings: z.int().optional(),
  _name_or_path: z.string().optional(),
});
const poolingFlags = z.object({
  word_embedding_dimension: z.int().optional(),
  pooling_mode_cls_token: z.boolean().optional(),
  pooling_mode_mean_tokens: z.boolean().optional(),
  pooling_mode_max_tokens: z.boolean().optional(),
  pooling_mode_lasttoken: z.boolean().optional(),
});
const transformerSettings = z.object({ max_seq_length: z.int().nullish() });
const tokenizerSettings = z.object({ model_max_length: z.number().nullish() });
const prompts = z.object({
  prompts: z.record(z.string(), z.string()).nullish(),
  similarity_fn_name: z.string().nullish(),
});
const modules = z.array(z.object({ type: z.string() }));

/** Reads what a directory says of the model in it. Throws `configuration_error`, in a sentence, for one that cannot be used. */
export async function readEncoderDirectory(directory: string): Promise<EncoderDirectory> {
  const found = await stat(directory).catch(() => null);
  if (!found?.isDirectory()) {
    throw new AppError('configuration_error', `There is no directory ${directory} with a model.`, {
      hint: 'Name the directory that holds tokenizer.json and the ONNX file: onnx:<directory>.',
    });
  }
  const read = <T>(file: string, schema: z.ZodType<T>) => readJson(join(directory, file), schema);
  const own = (await read(SETTINGS_FILE, settingsSchema)) ?? {};
  const config = await read('config.json', sizes);
  const flags = await read('1_Pooling/config.json', poolingFlags);
  const sentence = await read('config_sentence_transformers.json', prompts);
  refuseUnlikeModules(directory, (await read('modules.json', modules)) ?? []);
  refuseDotProducts(directory, sentence?.similarity_fn_name, own);
  const weights = await weightsIn(directory, own.weights);
  const described = {
    pooling: own.pooling ?? poolingOf(directory, flags),
    queryPrefix: own.queryPrefix ?? sentence?.prompts?.query ?? '',
    passagePrefix: own.passagePrefix ?? sentence?.prompts?.passage ?? sentence?.prompts?.document ?? '',
    maxTokens: own.maxTokens ?? (await longestInput(read, config?.max_position_embeddings)),
    dimensions: own.dimensions ?? flags?.word_embedding_dimension ?? config?.hidden_size,
  };
  if (!existsSync(join(directory, 'tokenizer.json'))) {
    throw new AppError('configuration_error', `${directory} holds no tokenizer.json.`, {
      hint: 'It is among the files of the model; older exports have a vocab.txt instead, which is not enough.',
    });
  }
  const name = basename(config?._name_or_path || directory);
  const hash = await fingerprint([weights, join(directory, 'tokenizer.json')], JSON.stringify(described));
  return {
    ...described,
    directory,
    id: `onnx:${name}@${hash}`,
    weights,
    baseline: own.baseline,
    threshold: own.threshold,
  };
}

/** Adds to what stands beside the model, and returns the file. What its vectors depend on must not be among it. */
export async function saveEncoderSettings(
  directory: string,
  added: Pick<EncoderSettings, 'baseline' | 'threshold'>,
): Promise<string> {
  const path = join(directory, SETTINGS_FILE);
  const settings = { ...(await readJson(path, settingsSchema)), ...added };
  try {
    await writeFileAtomic(path, `${JSON.stringify(settings, null, 2)}\n`);
  } catch (error) {
    throw new AppError('configuration_error', `${path} cannot be written (${messageOf(error)}).`, {
      hint: `Write it elsewhere and put it there: ${JSON.stringify(settings)}`,
      cause: error,
    });
  }
  return path;
}

/** Null if there is no such file. */
async function readJson<T>(path: string, schema: z.ZodType<T>): Promise<T | null> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw new AppError('configuration_error', `${path} cannot be read (${messageOf(error)}).`);
  });
  if (text === null) return null;
  const value = parsed(text);
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const where = issue?.path.length ? `${issue.path.join('.')}: ` : '';
  throw new AppError(
    'configuration_error',
    value === undefined
      ? `${path} is not valid JSON.`
      : `${path} is not as expected: ${where}${issue?.message}.`,
    { hint: 'Fetch the files of the model again, or mend that one.' },
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function poolingOf(directory: string, flags: z.infer<typeof poolingFlags> | null): Pooling | undefined {
  if (flags === null) return undefined;
  const chosen = (['cls_token', 'mean_tokens', 'max_tokens', 'lasttoken'] as const).filter(
    (mode) => flags[`pooling_mode_${mode}`],
  );
  const [mode] = chosen;
  if (mode === undefined || chosen.length > 1) {
    throw new AppError(
      'configuration_error',
      `The model in ${directory} pools its tokens in a way that is not known here.`,
      { hint: `Known are mean, max, cls and last; "pooling" in a ${SETTINGS_FILE} beside it names one.` },
    );
  }
  return ({ cls_token: 'cls', mean_tokens: 'mean', max_tokens: 'max', lasttoken: 'last' } as const)[mode];
}

/** Pooling and unit length are done here; what else follows the transformer may not be in the ONNX file. */
function refuseUnlikeModules(directory: string, used: z.infer<typeof modules>): void {
  const other = used.find(({ type }) => !/\.(Transformer|Pooling|Normalize)$/.test(type));
  if (other === undefined) return;
  throw new AppError(
    'configuration_error',
    `The model in ${directory} has a step that is not known here: ${other.type.split('.').at(-1)}.`,
    { hint: 'Models of a transformer, pooling and normalisation can be used.' },
  );
}

function refuseDotProducts(
  directory: string,
  compared: string | null | undefined,
  own: EncoderSettings,
): void {
  if (!compared?.startsWith('dot') || own.normalize === true) return;
  throw new AppError(
    'configuration_error',
    `The model in ${directory} was made to be compared by dot products, and here vectors are compared by cosine.`,
    { hint: `If that suits it all the same, write {"normalize": true} to ${SETTINGS_FILE} beside it.` },
  );
}

async function longestInput(
  read: <T>(file: string, schema: z.ZodType<T>) => Promise<T | null>,
  positions: number | undefined,
): Promise<number> {
  const transformer = await read('sentence_bert_config.json', transformerSettings);
  const tokenizer = await read('tokenizer_config.json', tokenizerSettings);
  // Where nothing limits a tokenizer, a number beyond all counting stands there.
  const lengths = [transformer?.max_seq_length, tokenizer?.model_max_length, positions];
  return Math.min(lengths.find((length) => length && length < 1e6) ?? MOST_TOKENS, MOST_TOKENS);
}

async function weightsIn(directory: string, named: string | undefined): Promise<string> {
  if (named !== undefined) {
    const path = join(directory, named);
    if (!isAbsolute(named) && !normalize(named).startsWith('..') && existsSync(path)) return path;
    throw new AppError(
      'configuration_error',
      `${SETTINGS_FILE} names weights that ${directory} does not hold: ${named}.`,
    );
  }
  const usual = FOLDERS.flatMap((folder) => WEIGHTS.map((file) => join(directory, folder, file)));
  const there = usual.find((path) => existsSync(path));
  if (there !== undefined) return there;
  const others: string[] = [];
  for (const folder of FOLDERS) {
    const names = await readdir(join(directory, folder)).catch(() => []);
    others.push(
      ...names.filter((name) => name.endsWith('.onnx')).map((name) => join(directory, folder, name)),
    );
  }
  const [only] = others;
  if (only !== undefined && others.length === 1) return only;
  throw new AppError(
    'configuration_error',
    only === undefined
      ? `${directory} holds no ONNX file.`
      : `${directory} holds several ONNX files, and none of them is called model.onnx.`,
    {
      hint:
        only === undefined
          ? 'It is looked for as onnx/model.onnx or model.onnx; a model in another format must be exported first.'
          : `Say which with "weights" in a ${SETTINGS_FILE} beside it.`,
    },
  );
}

/** Tells one model from another: vectors of two must never be compared. */
async function fingerprint(files: readonly string[], settings: string): Promise<string> {
  const hash = createHash('sha256').update(settings);
  for (const path of files) await addSamples(hash, path);
  return hash.digest('hex').slice(0, 8);
}

import * as z from 'zod';
import { agentConfigSchema } from '../domain/agent-config.ts';
import {
  CHECKS,
  EMBEDDER_NAMES,
  MODEL_PROVIDERS,
  ONNX_PREFIX,
  QDRANT_QUANTIZATIONS,
  RERANKERS,
  STORE_KINDS,
} from '../domain/setting-choices.ts';
import { httpUrlSchema, integerSchema } from './parse-value.ts';

const directory = z.string().trim().min(1).describe('the path of a directory');
const modelName = z.string().trim().min(1).describe('the name of a model');
const count = integerSchema(1);
const ownModel = z.templateLiteral([ONNX_PREFIX, z.string().trim().min(1)]);

/** Values that earlier versions used. */
const RERANK_ALIASES = new Map([
  ['', 'cohere'],
  ['true', 'cohere'],
  ['false', 'off'],
  ['judge', 'words'],
]);

/** The fields that can have other names in the payloads of a Qdrant collection. */
const PAYLOAD_FIELDS = ['text', 'url', 'title', 'module', 'chapter', 'headings', 'chunkIndex'] as const;

/** Every setting of flags, the environment and config files. */
export const settingSchemas = {
  ...agentConfigSchema.def.innerType.shape,
  provider: z.enum(MODEL_PROVIDERS).describe(oneOf(MODEL_PROVIDERS)),
  store: z.enum(STORE_KINDS).describe(oneOf(STORE_KINDS)),
  qdrantUrl: httpUrlSchema,
  qdrantShards: count,
  qdrantReplicas: count,
  qdrantQuantization: z.enum(QDRANT_QUANTIZATIONS).describe(oneOf(QDRANT_QUANTIZATIONS)),
  /** An object, or text such as `text=chunk_text,url=source_url`. */
  payloadMap: z
    .preprocess(
      (value) => (typeof value === 'string' ? fromPairs(value) : value),
      z.partialRecord(z.enum(PAYLOAD_FIELDS), z.string().trim().min(1)),
    )
    .describe(`pairs such as text=chunk_text,url=source_url for any of ${oneOf(PAYLOAD_FIELDS)}`),
  embedder: z
    .union([z.enum(EMBEDDER_NAMES), ownModel])
    .describe(oneOf([...EMBEDDER_NAMES, `${ONNX_PREFIX}<directory>`])),
  embeddingModel: modelName,
  embeddingBaseUrl: httpUrlSchema,
  embeddingDimensions: count,
  rerank: z
    .preprocess((value) => RERANK_ALIASES.get(String(value)) ?? value, z.union([z.enum(RERANKERS), ownModel]))
    .describe(oneOf([...RERANKERS, `${ONNX_PREFIX}<directory>`])),
  rerankModel: modelName,
  rerankBaseUrl: httpUrlSchema,
  check: z.union([z.enum(CHECKS), ownModel]).describe(oneOf([...CHECKS, `${ONNX_PREFIX}<directory>`])),
  cohereBaseUrl: httpUrlSchema,
  /** Per million tokens, by model. */
  prices: z
    .record(z.string(), z.object({ input: z.number().min(0), output: z.number().min(0) }))
    .describe('prices for a million tokens by model, such as {"gpt-5": {"input": 1.25, "output": 10}}'),
  /** The limits of parsing one document. */
  maxParseSeconds: integerSchema(1, 86_400),
  maxParseMemoryMb: integerSchema(64),
  maxParseOutputMb: count,
  home: directory,
  modelDir: directory,
} as const;
export type SettingName = keyof typeof settingSchemas;

/** What a setting names, if it takes effect in a project file only with trust; `onnx` is a path after that prefix. */
export const settingTargets: Readonly<Partial<Record<SettingName, 'address' | 'path' | 'onnx' | 'limit'>>> = {
  baseUrl: 'address',
  qdrantUrl: 'address',
  embedder: 'onnx',
  embeddingBaseUrl: 'address',
  rerank: 'onnx',
  rerankBaseUrl: 'address',
  check: 'onnx',
  cohereBaseUrl: 'address',
  maxParseSeconds: 'limit',
  maxParseMemoryMb: 'limit',
  maxParseOutputMb: 'limit',
  home: 'path',
  modelDir: 'path',
};

/** Whether the setting takes effect in a project file only if the user trusts that. */
export function needsTrust(name: SettingName, value: unknown): boolean {
  const target = settingTargets[name];
  return target === 'onnx' ? String(value).trim().startsWith(ONNX_PREFIX) : target !== undefined;
}

export const settingNames = Object.keys(settingSchemas) as SettingName[];

/** The environment variables of settings. `.env.example` lists the same. */
export const settingVariables = {
  OPENAI_BASE_URL: 'baseUrl',
  OPENAI_MODEL: 'model',
  OPENAI_API: 'api',
  CITELOOP_PROVIDER: 'provider',
  CITELOOP_EMBEDDER: 'embedder',
  EMBEDDING_MODEL: 'embeddingModel',
  EMBEDDING_BASE_URL: 'embeddingBaseUrl',
  EMBEDDING_DIMENSIONS: 'embeddingDimensions',
  CITELOOP_RERANK: 'rerank',
  RERANK_MODEL: 'rerankModel',
  RERANK_BASE_URL: 'rerankBaseUrl',
  CITELOOP_CHECK: 'check',
  COHERE_BASE_URL: 'cohereBaseUrl',
  CITELOOP_STORE: 'store',
  QDRANT_URL: 'qdrantUrl',
  QDRANT_PAYLOAD_MAP: 'payloadMap',
  AGENT_TOP_K: 'topK',
  AGENT_SCORE_THRESHOLD: 'scoreThreshold',
  AGENT_MAX_TURNS: 'maxTurns',
  CITELOOP_HOME: 'home',
  CITELOOP_MODEL_DIR: 'modelDir',
} as const satisfies Record<string, SettingName>;

export const secretVariables = {
  OPENAI_API_KEY: 'openaiApiKey',
  GROQ_API_KEY: 'groqApiKey',
  OPENROUTER_API_KEY: 'openrouterApiKey',
  OLLAMA_API_KEY: 'ollamaApiKey',
  EMBEDDING_API_KEY: 'embeddingApiKey',
  COHERE_API_KEY: 'cohereApiKey',
  RERANK_API_KEY: 'rerankApiKey',
  QDRANT_API_KEY: 'qdrantApiKey',
} as const;

export type SecretVariable = keyof typeof secretVariables;

/** Converts the text of a flag or a variable to a number or boolean where the setting is one. */
export function parseSettingText(name: SettingName, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const text = value.trim();
  const expected = unwrapped(settingSchemas[name]).def.type;
  if (expected === 'number' && text !== '') return Number(text);
  if (expected === 'boolean' && /^(true|false)$/i.test(text)) return text.toLowerCase() === 'true';
  return text;
}

function unwrapped(schema: z.ZodType): z.ZodType {
  return schema instanceof z.ZodDefault || schema instanceof z.ZodOptional
    ? unwrapped(schema.def.innerType as z.ZodType)
    : schema;
}

function oneOf(choices: readonly string[]): string {
  return `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`;
}

function fromPairs(text: string): unknown {
  const pairs = text.split(',').map((pair) => pair.split('='));
  const whole = pairs.every(([name, field, ...more]) => name && field && more.length === 0);
  return whole ? Object.fromEntries(pairs.map(([name = '', field]) => [name.trim(), field])) : text;
}

import * as z from 'zod';
import { agentConfigSchema } from '../domain/agent-config.ts';
import { EMBEDDERS, PROVIDERS, QUANTIZATIONS, STORES } from '../domain/choices.ts';
import { MAPPED_FIELDS, payloadMapSchema } from '../domain/payload-map.ts';

const directory = z.string().trim().min(1).describe('the path of a directory');
const address = z.url({ protocol: /^https?$/ }).describe('an http or https URL');
const modelName = z.string().trim().min(1).describe('the name of a model');
const count = z.int().min(1).describe('a whole number, at least 1');

/** Every setting that a flag, the environment or the config file can give. */
export const settings = {
  ...agentConfigSchema.def.innerType.shape,
  provider: z.enum(PROVIDERS).describe(listed(PROVIDERS)),
  store: z.enum(STORES).describe(listed(STORES)),
  qdrantUrl: address,
  qdrantShards: count,
  qdrantReplicas: count,
  qdrantQuantization: z.enum(QUANTIZATIONS).describe(listed(QUANTIZATIONS)),
  payloadMap: payloadMapSchema.describe(
    `pairs such as text=chunk_text,url=source_url for any of ${listed(MAPPED_FIELDS)}`,
  ),
  embedder: z.enum(EMBEDDERS).describe(listed(EMBEDDERS)),
  embeddingModel: modelName,
  embeddingBaseUrl: address,
  embeddingDimensions: count,
  rerank: z.boolean().describe('true or false'),
  rerankModel: modelName,
  cohereBaseUrl: address,
  traceFile: z.string().trim().min(1).describe('the path of a file'),
  home: directory,
  modelDir: directory,
} as const;
export type SettingName = keyof typeof settings;

export const settingNames = Object.keys(settings) as SettingName[];

/** A setting as text from a flag or the environment reads it: numbers and booleans are spelled out. */
export function fromText(name: SettingName, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const text = value.trim();
  const expected = unwrapped(settings[name]).def.type;
  if (expected === 'number' && text !== '') return Number(text);
  if (expected === 'boolean' && /^(true|false)$/i.test(text)) return text.toLowerCase() === 'true';
  return text;
}

function unwrapped(schema: z.ZodType): z.ZodType {
  return schema instanceof z.ZodDefault || schema instanceof z.ZodOptional
    ? unwrapped(schema.def.innerType as z.ZodType)
    : schema;
}

function listed(choices: readonly string[]): string {
  return `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`;
}

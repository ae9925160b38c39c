import * as z from 'zod';
import { agentConfigSchema } from '../domain/agent-config.ts';

const directory = z.string().trim().min(1).describe('the path of a directory');

/** Every setting that a flag, the environment or the config file can give. */
export const settings = {
  ...agentConfigSchema.def.innerType.shape,
  qdrantUrl: z.url({ protocol: /^https?$/ }).describe('an http or https URL'),
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

import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { AppError, type ErrorKind, messageOf } from '../faults/app-error.ts';
import { findNearestName } from '../text/nearest-name.ts';
import { parseValue } from './parse-value.ts';
import {
  parseSettingText,
  type SettingName,
  secretVariables,
  settingNames,
  settingSchemas,
  settingVariables,
} from './settings.ts';

export interface GivenSetting {
  value: unknown;
  /** For error messages: `flag --top-k`. */
  origin: string;
  kind: ErrorKind;
  /** The higher one of two sources wins. */
  strength: number;
  /** The config file; its paths are relative to it. */
  file?: string;
}

const STRENGTH = { flag: 3, environment: 2, project: 1, user: 0 } as const;

type Variables = Readonly<Record<string, string | undefined>>;
export type GivenSettings = Partial<Record<SettingName, GivenSetting>>;

interface SettingSources {
  flags: Readonly<Record<string, unknown>>;
  /** Whether the flags are options of the library. */
  asOptions: boolean;
  env: Variables;
  dotEnv: Variables;
  dotEnvPath: string;
  project: ConfigFile | undefined;
  user: ConfigFile | undefined;
}

export interface ConfigFile {
  path: string;
  fields: Readonly<Record<string, unknown>>;
}

/** Every given setting, from its strongest source. All values are checked, also those that are overridden. */
export function collectSettings(sources: SettingSources): GivenSettings {
  return {
    ...fileSettings(sources.user, STRENGTH.user),
    ...fileSettings(sources.project, STRENGTH.project),
    ...environmentSettings(sources),
    ...flagSettings(sources),
  };
}

function flagSettings({ flags, asOptions }: SettingSources): GivenSettings {
  const found: GivenSettings = {};
  for (const name of settingNames) {
    // The flag --prices of evaluations names a file; it is not this setting.
    if (flags[name] === undefined || (!asOptions && name === 'prices')) continue;
    const origin = asOptions ? `option ${name}` : `flag --${toKebabCase(name)}`;
    const source = { origin, kind: 'invalid_input', strength: STRENGTH.flag } as const;
    found[name] = checkSetting(name, parseSettingText(name, flags[name]), source);
  }
  return found;
}

function environmentSettings({ env, dotEnv, dotEnvPath }: SettingSources): GivenSettings {
  const found: GivenSettings = {};
  for (const [variable, name] of Object.entries(settingVariables)) {
    // An empty variable is unset, and still overrides the one in `.env`.
    const text = env[variable] ?? dotEnv[variable];
    if (text === undefined || text.trim() === '') continue;
    const origin = env[variable] === undefined ? `${variable} in ${dotEnvPath}` : `environment ${variable}`;
    const source = { origin, kind: 'configuration_error', strength: STRENGTH.environment } as const;
    found[name] = checkSetting(name, parseSettingText(name, text), source);
  }
  return found;
}

function fileSettings(file: ConfigFile | undefined, strength: number): GivenSettings {
  const found: GivenSettings = {};
  for (const [field, value] of Object.entries(file?.fields ?? {})) {
    const path = file?.path ?? '';
    const name =
      settingNames.find((known) => known === field) ??
      throwUnknownSetting(field, `${path} has an unknown field`);
    const origin = `${path} field ${field}`;
    found[name] = checkSetting(name, value, { origin, kind: 'configuration_error', strength, file: path });
  }
  return found;
}

/** Throws with the nearest setting, or with the variable of a key. */
export function throwUnknownSetting(
  field: string,
  message: string,
  kind: ErrorKind = 'configuration_error',
): never {
  const secret = Object.entries(secretVariables).find(([, name]) => name === field)?.[0];
  const nearest = findNearestName(field, settingNames);
  const hint = secret
    ? `Keys are read only from the environment: set ${secret}.`
    : nearest
      ? `Did you mean ${nearest}?`
      : `Settings: ${settingNames.join(', ')}.`;
  throw new AppError(kind, `${message} ${JSON.stringify(field)}.`, { hint });
}

function checkSetting(name: SettingName, value: unknown, source: Omit<GivenSetting, 'value'>): GivenSetting {
  const [, flag] = /^flag (--.+)$/.exec(source.origin) ?? [];
  const subject = flag ?? `${name} (${source.origin})`;
  return { ...source, value: parseValue(settingSchemas[name], value, { subject, kind: source.kind }) };
}

/** `maxSteps` becomes `max-steps`. */
export function toKebabCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

export function readDotEnv(path: string): Record<string, string | undefined> {
  const text = readIfExists(path, 'configuration_error');
  return text === undefined ? {} : parseEnv(text);
}

export function readConfigFile(path: string, whenUnreadable: ErrorKind): Record<string, unknown> | undefined {
  const text = readIfExists(path, whenUnreadable);
  if (text === undefined) return undefined;
  const value = parseConfigJson(text, path);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw new AppError('configuration_error', `${path} must contain one JSON object.`);
}

function readIfExists(path: string, kind: ErrorKind): string | undefined {
  try {
    return readFileSync(path, 'utf8').replace(/^\ufeff/, '');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new AppError(kind, `Cannot read ${path}: ${messageOf(error)}.`, { cause: error });
  }
}

function parseConfigJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // The message of the parser quotes the file, which may contain a secret.
    const place = /\(line \d+ column \d+\)/.exec(messageOf(error))?.[0];
    throw new AppError('configuration_error', `${path} is not valid JSON${place ? ` ${place}` : ''}.`, {
      hint: 'JSON has no comments and no trailing commas.',
    });
  }
}

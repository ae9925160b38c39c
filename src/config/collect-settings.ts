import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { AppError, type ErrorKind, messageOf } from '../faults/app-error.ts';
import { nearestName } from '../text/nearest-name.ts';
import { checkedValue } from './read-value.ts';
import {
  fromText,
  type SettingName,
  secretVariables,
  settingNames,
  settings,
  settingVariables,
} from './settings.ts';

/** A setting that somebody gave, checked by itself. */
export interface Setting {
  value: unknown;
  /** Where it came from, in words: `flag --top-k`. */
  origin: string;
  /** The kind of an error about it. */
  kind: ErrorKind;
  /** Flags are stronger than the environment, that is stronger than a project's file, and that than the user's. */
  strength: number;
  /** The file that it stands in; paths in it start there. */
  file?: string;
}

const STRENGTH = { flag: 3, environment: 2, project: 1, user: 0 } as const;

type Variables = Readonly<Record<string, string | undefined>>;

interface Given {
  flags: Readonly<Record<string, unknown>>;
  /** Whether a program gave them, which knows no flags. */
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

/** Every setting that was given, from the strongest of its sources. All of them are checked, used or not. */
export function collectSettings(given: Given): Partial<Record<SettingName, Setting>> {
  return {
    ...fileSettings(given.user, STRENGTH.user),
    ...fileSettings(given.project, STRENGTH.project),
    ...environmentSettings(given),
    ...flagSettings(given),
  };
}

/** A table of prices is too much for a flag; the flag of that name is of evaluations, and names a file. */
const NO_FLAG: readonly SettingName[] = ['prices'];

function flagSettings({ flags, asOptions }: Given): Partial<Record<SettingName, Setting>> {
  const found: Partial<Record<SettingName, Setting>> = {};
  for (const name of settingNames) {
    if (flags[name] === undefined || (!asOptions && NO_FLAG.includes(name))) continue;
    const flag = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const origin = asOptions ? `option ${name}` : `flag --${flag}`;
    found[name] = checked(name, fromText(name, flags[name]), {
      origin,
      kind: 'invalid_input',
      strength: STRENGTH.flag,
    });
  }
  return found;
}

function environmentSettings({ env, dotEnv, dotEnvPath }: Given): Partial<Record<SettingName, Setting>> {
  const found: Partial<Record<SettingName, Setting>> = {};
  for (const [variable, name] of Object.entries(settingVariables)) {
    // An empty variable counts as unset, and still hides the one in `.env`.
    const text = env[variable] ?? dotEnv[variable];
    if (text === undefined || text.trim() === '') continue;
    const origin = env[variable] === undefined ? `${variable} in ${dotEnvPath}` : `environment ${variable}`;
    found[name] = checked(name, fromText(name, text), {
      origin,
      kind: 'configuration_error',
      strength: STRENGTH.environment,
    });
  }
  return found;
}

function fileSettings(file: ConfigFile | undefined, strength: number): Partial<Record<SettingName, Setting>> {
  const found: Partial<Record<SettingName, Setting>> = {};
  for (const [field, value] of Object.entries(file?.fields ?? {})) {
    const path = file?.path ?? '';
    const name =
      settingNames.find((known) => known === field) ?? refuseField(field, `${path} has an unknown field`);
    const origin = `${path} field ${field}`;
    found[name] = checked(name, value, { origin, kind: 'configuration_error', strength, file: path });
  }
  return found;
}

/** Throws `configuration_error`, or another kind, with what was probably meant. */
export function refuseField(field: string, said: string, kind: ErrorKind = 'configuration_error'): never {
  const secret = Object.entries(secretVariables).find(([, name]) => name === field)?.[0];
  const nearest = nearestName(field, settingNames);
  const hint = secret
    ? `Keys are read from the environment alone: set ${secret}.`
    : nearest
      ? `Did you mean ${nearest}?`
      : `Known fields are ${settingNames.join(', ')}.`;
  throw new AppError(kind, `${said}, ${JSON.stringify(field)}.`, { hint });
}

function checked(name: SettingName, value: unknown, source: Omit<Setting, 'value'>): Setting {
  // A flag is called as it was typed.
  const [, flag] = /^flag (--.+)$/.exec(source.origin) ?? [];
  const subject = flag ?? `${name} (${source.origin})`;
  return { ...source, value: checkedValue(settings[name], value, { subject, kind: source.kind }) };
}

/** The variables of a `.env` file; none when there is no such file. */
export function readDotEnv(path: string): Record<string, string | undefined> {
  const text = readIfPresent(path, 'configuration_error');
  return text === undefined ? {} : parseEnv(text);
}

/** The fields of a config file; undefined when there is no such file. */
export function readConfigFile(path: string, whenUnreadable: ErrorKind): Record<string, unknown> | undefined {
  const text = readIfPresent(path, whenUnreadable);
  if (text === undefined) return undefined;
  const value = parseJson(text, path);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw new AppError('configuration_error', `${path} must hold one JSON object.`);
}

function readIfPresent(path: string, kind: ErrorKind): string | undefined {
  try {
    return readFileSync(path, 'utf8').replace(/^\ufeff/, '');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new AppError(kind, `${path} cannot be read: ${messageOf(error)}.`, { cause: error });
  }
}

function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // The parser's own message quotes the file, which may hold what should not be printed.
    const place = /\(line \d+ column \d+\)/.exec(messageOf(error))?.[0] ?? '';
    throw new AppError(
      'configuration_error',
      `${path} is not valid JSON${place === '' ? '' : ` ${place}`}.`,
      {
        hint: 'Comments and trailing commas are not allowed there.',
      },
    );
  }
}

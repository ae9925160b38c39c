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
  fromFile: boolean;
}

/** A flag beats the environment, which beats the file. */
export function strengthOf({ kind, fromFile }: Setting): number {
  return kind === 'invalid_input' ? 2 : fromFile ? 0 : 1;
}

type Variables = Readonly<Record<string, string | undefined>>;

interface Given {
  flags: Readonly<Record<string, unknown>>;
  /** Whether a program gave them, which knows no flags. */
  asOptions: boolean;
  env: Variables;
  dotEnv: Variables;
  dotEnvPath: string;
  file: { path: string; fields: Readonly<Record<string, unknown>> } | undefined;
}

/** Every setting that was given, from the strongest of its sources. All of them are checked, used or not. */
export function collectSettings(given: Given): Partial<Record<SettingName, Setting>> {
  return { ...fileSettings(given.file), ...environmentSettings(given), ...flagSettings(given) };
}

function flagSettings({ flags, asOptions }: Given): Partial<Record<SettingName, Setting>> {
  const found: Partial<Record<SettingName, Setting>> = {};
  for (const name of settingNames) {
    if (flags[name] === undefined) continue;
    const flag = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const origin = asOptions ? `option ${name}` : `flag --${flag}`;
    found[name] = checked(name, fromText(name, flags[name]), {
      origin,
      kind: 'invalid_input',
      fromFile: false,
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
      fromFile: false,
    });
  }
  return found;
}

function fileSettings(file: Given['file']): Partial<Record<SettingName, Setting>> {
  const found: Partial<Record<SettingName, Setting>> = {};
  for (const [field, value] of Object.entries(file?.fields ?? {})) {
    const name = settingNames.find((known) => known === field) ?? refuseField(field, file?.path ?? '');
    const origin = `${file?.path} field ${field}`;
    found[name] = checked(name, value, { origin, kind: 'configuration_error', fromFile: true });
  }
  return found;
}

function refuseField(field: string, path: string): never {
  const secret = Object.entries(secretVariables).find(([, name]) => name === field)?.[0];
  const nearest = nearestName(field, settingNames);
  const hint = secret
    ? `Keys are read from the environment alone: set ${secret}.`
    : nearest
      ? `Did you mean ${nearest}?`
      : `Known fields are ${settingNames.join(', ')}.`;
  throw new AppError('configuration_error', `${path} has an unknown field, ${JSON.stringify(field)}.`, {
    hint,
  });
}

function checked(name: SettingName, value: unknown, source: Omit<Setting, 'value'>): Setting {
  const subject = `${name} (${source.origin})`;
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

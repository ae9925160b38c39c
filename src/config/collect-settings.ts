import { AppError, type ErrorKind } from '../domain/app-error.ts';
import { secretVariables, settingVariables } from './environment.ts';
import { nearestName } from './nearest-name.ts';
import { fromText, type SettingName, settingNames, settings } from './settings.ts';

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
  env: Variables;
  dotEnv: Variables;
  dotEnvPath: string;
  file: { path: string; fields: Readonly<Record<string, unknown>> } | undefined;
}

/** Every setting that was given, from the strongest of its sources. All of them are checked, used or not. */
export function collectSettings(given: Given): Partial<Record<SettingName, Setting>> {
  return { ...fileSettings(given.file), ...environmentSettings(given), ...flagSettings(given.flags) };
}

function flagSettings(flags: Given['flags']): Partial<Record<SettingName, Setting>> {
  const found: Partial<Record<SettingName, Setting>> = {};
  for (const name of settingNames) {
    if (flags[name] === undefined) continue;
    const origin = `flag --${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
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
  const schema = settings[name];
  const result = schema.safeParse(value);
  if (result.success && result.data !== undefined) return { ...source, value: result.data };
  throw new AppError(
    source.kind,
    `${name} (${source.origin}) must be ${schema.description ?? 'given'}${shown(value)}.`,
  );
}

/** A short value is repeated; a long one may be a key that was put in the wrong place. */
function shown(value: unknown): string {
  const text = String(value);
  return /^[\w.+-]{1,12}$/.test(text) ? `, not ${text}` : '';
}

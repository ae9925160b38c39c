import { basename, join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { AppError, type ErrorKind, messageOf } from '../faults/app-error.ts';
import { findNearestName } from '../text/nearest-name.ts';
import { isJsonObject } from '../text/parse-json.ts';
import { parseValue, sameOrigin } from './parse-value.ts';
import {
  needsTrust,
  parseSettingText,
  type SettingName,
  secretVariables,
  settingNames,
  settingSchemas,
  settingTargets,
  settingVariables,
} from './settings.ts';
import { CONFIG_FILE, isMissingFile, type ProjectFile, readProjectFile, VARIABLES_FILE } from './trust.ts';

export interface GivenSetting {
  name: SettingName;
  value: unknown;
  /** For error messages: `flag --top-k`. */
  origin: string;
  kind: ErrorKind;
  /** The higher one of two sources wins. */
  strength: number;
  /** The config file or `.env`; its paths are relative to it. */
  file?: SettingsFile;
}

const STRENGTH = { flag: 4, tape: 3, environment: 2, project: 1, user: 0 } as const;

export type Variables = Readonly<Record<string, string | undefined>>;
export type GivenSettings = Partial<Record<SettingName, GivenSetting>>;

interface SettingSources {
  flags: Readonly<Record<string, unknown>>;
  /** Whether the flags are options of the library. */
  asOptions: boolean;
  env: Variables;
  dotEnv: SettingsFile | undefined;
  project: SettingsFile | undefined;
  user: SettingsFile | undefined;
  tape: SettingsFile | undefined;
}

export interface SettingsFile {
  path: string;
  /** The fields of a config file, or the variables of `.env`. */
  fields: Readonly<Record<string, unknown>>;
  /** Set unless it is the user's own. */
  project?: ProjectFile;
}

/** Every given setting, from its strongest source. All values are checked, also those that are overridden. */
export function collectSettings(sources: SettingSources): GivenSettings {
  const configured = {
    ...fileSettings(sources.user, STRENGTH.user),
    ...fileSettings(sources.project, STRENGTH.project),
    ...variableSettings(unsetIn(sources.env, sources.dotEnv), sources.dotEnv),
    ...variableSettings(sources.env),
  };
  return { ...configured, ...tapeSettings(sources.tape, configured), ...flagSettings(sources) };
}

/** A service that the user configured too is the user's. Unknown fields come from other versions. */
function tapeSettings(tape: SettingsFile | undefined, configured: GivenSettings): GivenSettings {
  if (tape === undefined) return {};
  const known = Object.entries(tape.fields).filter(([field]) => settingNames.some((name) => name === field));
  const found = fileSettings({ ...tape, fields: Object.fromEntries(known) }, STRENGTH.tape);
  for (const name of settingNames) {
    const [recorded, own] = [found[name], configured[name]];
    if (recorded === undefined || own === undefined || settingTargets[name] !== 'address') continue;
    const { value, strength } = recorded;
    if (sameOrigin(String(value), String(own.value))) found[name] = { ...own, value, strength };
  }
  return found;
}

/** The settings that take effect only if the user trusts the files that they come from. */
export function settingsThatNeedTrust(given: GivenSettings): GivenSetting[] {
  return settingNames.flatMap((name) => {
    const setting = given[name];
    return setting?.file?.project && needsTrust(name, setting.value) ? [setting] : [];
  });
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

/** The variables of `.env` that the environment does not set. An empty variable is unset, and still overrides `.env`. */
function unsetIn(env: Variables, dotEnv: SettingsFile | undefined): Variables {
  const entries = Object.entries((dotEnv?.fields ?? {}) as Variables);
  return Object.fromEntries(entries.filter(([variable]) => env[variable] === undefined));
}

function variableSettings(variables: Variables, file?: SettingsFile): GivenSettings {
  const found: GivenSettings = {};
  for (const [variable, name] of Object.entries(settingVariables)) {
    const text = variables[variable];
    if (text === undefined || text.trim() === '') continue;
    const origin = file === undefined ? `environment ${variable}` : `${variable} in ${file.path}`;
    const source = { origin, kind: 'configuration_error', strength: STRENGTH.environment } as const;
    found[name] = checkSetting(name, parseSettingText(name, text), file ? { ...source, file } : source);
  }
  return found;
}

function fileSettings(file: SettingsFile | undefined, strength: number): GivenSettings {
  const found: GivenSettings = {};
  if (file === undefined) return found;
  const { path } = file;
  for (const [field, value] of Object.entries(file.fields)) {
    const name =
      settingNames.find((known) => known === field) ??
      throwUnknownSetting(field, `${path} has an unknown field`);
    const origin = `${path} field ${field}`;
    found[name] = checkSetting(name, value, { origin, kind: 'configuration_error', strength, file });
  }
  return found;
}

/** Throws with the nearest setting, or with the variable of a key. */
export function throwUnknownSetting(
  field: string,
  message: string,
  kind: ErrorKind = 'configuration_error',
  known: readonly string[] = settingNames,
): never {
  const secret = Object.entries(secretVariables).find(([, name]) => name === field)?.[0];
  const nearest = findNearestName(field, known);
  const inCode = known === settingNames ? '' : `, or pass apiKeys: { ${field.replace('ApiKey', '')} }`;
  const hint = secret
    ? `Set ${secret} in the environment${inCode}.`
    : nearest
      ? `Did you mean ${nearest}?`
      : `Known: ${known.join(', ')}.`;
  throw new AppError(kind, `${message} ${JSON.stringify(field)}.`, { hint });
}

function checkSetting(
  name: SettingName,
  value: unknown,
  source: Omit<GivenSetting, 'name' | 'value'>,
): GivenSetting {
  const [, flag] = /^flag (--.+)$/.exec(source.origin) ?? [];
  const subject = flag ?? `${name} (${source.origin})`;
  return { ...source, name, value: parseValue(settingSchemas[name], value, { subject, kind: source.kind }) };
}

/** `maxSteps` becomes `max-steps`. */
export function toKebabCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** The config file and `.env` of a directory, as far as they exist. The file of --config must exist. */
export function readProjectFiles(cwd: string, configPath?: string) {
  const path = resolve(cwd, configPath ?? CONFIG_FILE);
  const project = readSettingsFile(path, configPath === undefined ? 'configuration_error' : 'invalid_input');
  if (configPath !== undefined && project === undefined)
    throw new AppError('invalid_input', `Config file ${path} (flag --config) does not exist.`);
  return { project, dotEnv: readSettingsFile(join(cwd, VARIABLES_FILE), 'configuration_error') };
}

export function readSettingsFile(path: string, whenUnreadable: ErrorKind): SettingsFile | undefined {
  const read = readIfExists(path, whenUnreadable);
  if (read === undefined) return undefined;
  const isDotEnv = basename(path) === VARIABLES_FILE;
  const fields = isDotEnv ? parseEnv(read.text) : parseConfigObject(read.text, path);
  const sets = Object.entries(fields).flatMap(([field, value]) => {
    const name = isDotEnv ? settingVariables[field as keyof typeof settingVariables] : field;
    const isSecret = isDotEnv && field in secretVariables;
    const isSet = !isDotEnv || String(value).trim() !== '';
    if (isSecret) return isSet ? [{ name: field }] : [];
    return isSet && name && needsTrust(name as SettingName, value) ? [{ name: field, value }] : [];
  });
  return { path, fields, project: { ...read.file, sets } };
}

/** A file without the settings and keys that need trust. */
export function withoutUntrusted(file: SettingsFile): SettingsFile {
  const names = file.project?.sets.map(({ name }) => name) ?? [];
  const fields = Object.entries(file.fields).filter(([field]) => !names.includes(field));
  return { ...file, fields: Object.fromEntries(fields) };
}

/** The fields of the user's own file. */
export function readConfigFile(path: string): Record<string, unknown> | undefined {
  const read = readIfExists(path, 'configuration_error');
  return read && parseConfigObject(read.text, path);
}

function readIfExists(path: string, kind: ErrorKind): ReturnType<typeof readProjectFile> | undefined {
  try {
    const { file, text } = readProjectFile(path);
    return { file, text: text.replace(/^\ufeff/, '') };
  } catch (error) {
    if (isMissingFile(error)) return undefined;
    throw new AppError(kind, `Cannot read ${path}: ${messageOf(error)}.`, { cause: error });
  }
}

function parseConfigObject(text: string, path: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // The message of the parser quotes the file, which may contain a secret.
    const place = /\(line \d+ column \d+\)/.exec(messageOf(error))?.[0];
    throw new AppError('configuration_error', `${path} is not valid JSON${place ? ` ${place}` : ''}.`, {
      hint: 'JSON has no comments and no trailing commas.',
    });
  }
  if (isJsonObject(value)) return value;
  throw new AppError('configuration_error', `${path} must contain one JSON object.`);
}

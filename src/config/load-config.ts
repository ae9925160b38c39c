import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type * as z from 'zod';
import { type AgentConfig, agentConfigSchema } from '../domain/agent-config.ts';
import { knownContextWindow } from '../domain/context-window.ts';
import {
  EMBEDDER_NAMES,
  JUDGE_RERANKER,
  NUMBER_SETTINGS,
  OFFLINE_DEFAULTS,
  OFFLINE_MODEL,
  ONNX_PREFIX,
} from '../domain/setting-choices.ts';
import { AppError } from '../faults/app-error.ts';
import { parseOrThrow } from '../faults/parse-or-throw.ts';
import {
  type ConfigFile,
  collectSettings,
  type GivenSetting,
  type GivenSettings,
  readConfigFile,
  readDotEnv,
} from './collect-settings.ts';
import { defaultDirectories } from './directories.ts';
import { createSecret, type Secret } from './secret.ts';
import { resolveEmbeddingService, resolveModelService, type ServiceAccess } from './service-access.ts';
import type { SettingName, settingSchemas } from './settings.ts';
import { type SecretName, type SecretVariable, secretVariables } from './settings.ts';

const CONFIG_FILE = 'citeloop.config.json';
const DEFAULT_QDRANT_URL = 'http://127.0.0.1:6333';

export type AppConfig = ReturnType<typeof loadConfig>;

export type SettingValue<Name extends SettingName> = z.infer<(typeof settingSchemas)[Name]>;

interface ConfigSources {
  /** Flags by the names of the settings; other names are ignored. */
  flags?: Readonly<Record<string, unknown>>;
  /** Options of the library, in place of flags. */
  options?: Readonly<Record<string, unknown>>;
  env?: Readonly<Record<string, string | undefined>>;
  cwd?: string;
  /** The file of --config, which must exist. */
  configPath?: string | undefined;
  platform?: NodeJS.Platform;
}

/**
 * Merges the sources of settings: flag, environment, project file, user file, default. Throws an AppError that names the
 * source of a bad value: `invalid_input` for a flag, else `configuration_error`.
 */
export function loadConfig(sources: ConfigSources = {}) {
  const {
    options,
    flags = options ?? {},
    env = process.env,
    cwd = process.cwd(),
    platform = process.platform,
  } = sources;
  const dotEnvPath = join(cwd, '.env');
  const dotEnv = readDotEnv(dotEnvPath);
  const directories = defaultDirectories(env, platform);
  const project = findConfigFile(cwd, sources.configPath);
  const userFields = readConfigFile(directories.settings, 'configuration_error');
  const user = userFields && { path: directories.settings, fields: userFields };
  const asOptions = options !== undefined;
  const given = collectSettings({ flags, asOptions, env, dotEnv, dotEnvPath, project, user });

  const givenValue = <Name extends SettingName>(name: Name) =>
    given[name]?.value as SettingValue<Name> | undefined;
  const pathOf = (setting: GivenSetting | undefined) =>
    setting && resolve(setting.file === undefined ? cwd : dirname(setting.file), String(setting.value));
  const onnxDirectory = (setting: GivenSetting | undefined) => {
    const value = String(setting?.value ?? '');
    if (setting === undefined || !value.startsWith(ONNX_PREFIX)) return undefined;
    return pathOf({ ...setting, value: value.slice(ONNX_PREFIX.length).replace(/^~(?=\/)/, homedir()) });
  };
  const secretOf = (variable: SecretVariable) => {
    const value = (env[variable] ?? dotEnv[variable])?.trim();
    return value ? createSecret(value) : undefined;
  };
  const { api, ...modelService } = resolveModelService(given, secretOf);
  const rerank = givenValue('rerank');

  return Object.freeze({
    agent: resolveAgentConfig(given, { api, baseUrl: modelService.baseUrl }),
    home: pathOf(given.home) ?? directories.home,
    cache: directories.cache,
    /** A directory with the weights of the embedder, used instead of the cache. */
    modelDir: pathOf(given.modelDir),
    store: givenValue('store') ?? (given.qdrantUrl === undefined ? 'sqlite' : 'qdrant'),
    qdrant: {
      url: givenValue('qdrantUrl') ?? DEFAULT_QDRANT_URL,
      shardNumber: givenValue('qdrantShards'),
      replicationFactor: givenValue('qdrantReplicas'),
      quantization: givenValue('qdrantQuantization') ?? 'none',
      payloadMap: givenValue('payloadMap') ?? {},
    },
    embedding: {
      embedder:
        EMBEDDER_NAMES.find((known) => known === (givenValue('embedder') ?? 'minilm')) ?? ('onnx' as const),
      directory: onnxDirectory(given.embedder),
      model: givenValue('embeddingModel'),
      dimensions: givenValue('embeddingDimensions'),
      service: resolveEmbeddingService(given, modelService, secretOf),
    },
    rerank: {
      on: ![undefined, false, JUDGE_RERANKER].includes(rerank),
      /** Whether the judge reranks; `on` is false then. */
      judge: rerank === JUDGE_RERANKER,
      model: givenValue('rerankModel'),
      /** The directory of a local cross-encoder; Cohere reranks unless given. */
      directory: onnxDirectory(given.rerank),
    },
    modelService: modelService as ServiceAccess,
    cohereBaseUrl: givenValue('cohereBaseUrl'),
    secrets: Object.freeze(
      Object.fromEntries(
        Object.entries(secretVariables).map(([variable, name]) => [
          name,
          secretOf(variable as SecretVariable),
        ]),
      ) as Record<SecretName, Secret | undefined>,
    ),
    /** Passages of a search without an agent. */
    searchTopK: givenValue('topK') ?? NUMBER_SETTINGS.topK.default,
    /** Whether the collection is set anywhere; otherwise it is the default. */
    collectionChosen: given.collection !== undefined,
    origins: pickField(given, 'origin') as Readonly<Partial<Record<SettingName, string>>>,
    /** The given settings, without defaults. */
    given: pickField(given, 'value') as Readonly<Partial<Record<SettingName, unknown>>>,
    /** The path of the user's settings; the file may not exist. */
    settingsFile: directories.settings,
    prices: givenValue('prices') ?? {},
  });
}

function pickField(given: GivenSettings, field: 'origin' | 'value') {
  return Object.freeze(
    Object.fromEntries(Object.entries(given).map(([name, setting]) => [name, setting[field]])),
  );
}

function findConfigFile(cwd: string, configPath: string | undefined): ConfigFile | undefined {
  const path = resolve(cwd, configPath ?? CONFIG_FILE);
  const fields = readConfigFile(path, configPath === undefined ? 'configuration_error' : 'invalid_input');
  if (fields !== undefined) return { path, fields };
  if (configPath === undefined) return undefined;
  throw new AppError('invalid_input', `Config file ${path} (flag --config) does not exist.`);
}

function resolveAgentConfig(
  given: GivenSettings,
  service: Pick<AgentConfig, 'api'> & { baseUrl: string },
): AgentConfig {
  const values: Record<string, unknown> = { ...pickField(given, 'value') };
  values.api ??= service.api;
  if (given.provider || given.baseUrl) values.baseUrl = service.baseUrl;
  values.contextWindow ??= knownContextWindow(String(values.model ?? ''));
  if ((values.model ?? OFFLINE_MODEL) === OFFLINE_MODEL) {
    values.toolName ??= OFFLINE_DEFAULTS.toolName;
    values.topK ??= OFFLINE_DEFAULTS.topK;
  }
  const contextWindow = Number(values.contextWindow);
  values.maxTokens ??= Math.min(NUMBER_SETTINGS.maxTokens.default, Math.ceil(contextWindow / 8));
  if (Number(values.maxTokens) >= contextWindow) {
    const wrong = given.maxTokens ?? given.contextWindow;
    throw new AppError(
      wrong?.kind ?? 'configuration_error',
      `maxTokens is ${values.maxTokens} (${given.maxTokens?.origin ?? 'default'}), but it must be below ` +
        `contextWindow, which is ${contextWindow} (${given.contextWindow?.origin ?? 'default'}).`,
    );
  }
  return parseOrThrow(agentConfigSchema, values, 'The configuration', 'configuration_error');
}

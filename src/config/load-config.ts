import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type * as z from 'zod';
import { type AgentConfig, agentConfigSchema } from '../domain/agent-config.ts';
import { EMBEDDERS, JUDGE, NUMBERS, OFFLINE_DEFAULTS, OFFLINE_MODEL, OWN_MODEL } from '../domain/choices.ts';
import { contextWindowOf } from '../domain/context-window.ts';
import { AppError } from '../faults/app-error.ts';
import { validated } from '../faults/validated.ts';
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

export interface Config {
  readonly agent: AgentConfig;
  /** The directory of collections and sessions. */
  readonly home: string;
  /** The directory of downloaded model weights. */
  readonly cache: string;
  /** A directory with the weights of the embedder, used instead of the cache. */
  readonly modelDir: string | undefined;
  readonly store: ValueOf<'store'>;
  readonly qdrant: QdrantConfig;
  readonly embedding: EmbeddingConfig;
  readonly rerank: {
    readonly on: boolean;
    readonly model: string | undefined;
    /** Whether the judge reranks; `on` is false then. */
    readonly judge: boolean;
    /** The directory of a local cross-encoder; Cohere reranks unless given. */
    readonly directory: string | undefined;
  };
  readonly modelService: ServiceAccess;
  /** A proxy or a private deployment of Cohere. */
  readonly cohereBaseUrl: string | undefined;
  readonly secrets: Readonly<Record<SecretName, Secret | undefined>>;
  /** Whether the collection is set anywhere; otherwise it is the default. */
  readonly collectionChosen: boolean;
  /** Passages of a search without an agent. */
  readonly searchTopK: number;
  /** The source of each given setting, as text. */
  readonly origins: Readonly<Partial<Record<SettingName, string>>>;
  /** The given settings, without defaults. */
  readonly given: Readonly<Partial<Record<SettingName, unknown>>>;
  /** The path of the user's settings; the file may not exist. */
  readonly settingsFile: string;
  readonly prices: ValueOf<'prices'>;
}

export type ValueOf<Name extends SettingName> = z.infer<(typeof settingSchemas)[Name]>;

interface QdrantConfig {
  readonly url: string;
  readonly shardNumber: number | undefined;
  readonly replicationFactor: number | undefined;
  readonly quantization: ValueOf<'qdrantQuantization'>;
  readonly payloadMap: ValueOf<'payloadMap'>;
}

interface EmbeddingConfig {
  readonly embedder: (typeof EMBEDDERS)[number] | 'onnx';
  /** The directory of an ONNX model. */
  readonly directory: string | undefined;
  readonly model: string | undefined;
  readonly dimensions: number | undefined;
  /** For embedders with the API of OpenAI. */
  readonly service: ServiceAccess;
}

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
export function loadConfig(sources: ConfigSources = {}): Config {
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
  const user = readUserFile(directories.settings);
  const asOptions = options !== undefined;
  const given = collectSettings({ flags, asOptions, env, dotEnv, dotEnvPath, project, user });

  const pathOf = (setting: GivenSetting | undefined) =>
    setting && resolve(setting.file === undefined ? cwd : dirname(setting.file), String(setting.value));

  const onnxDirectory = (setting: GivenSetting | undefined) => {
    const value = String(setting?.value ?? '');
    if (setting === undefined || !value.startsWith(OWN_MODEL)) return undefined;
    return pathOf({ ...setting, value: value.slice(OWN_MODEL.length).replace(/^~(?=\/)/, homedir()) });
  };

  const secretOf = (variable: SecretVariable) => secretFrom(variable, env, dotEnv);
  const { api, ...service } = resolveModelService(given, secretOf);
  const valueFor = <Name extends SettingName>(name: Name) => given[name]?.value as ValueOf<Name> | undefined;

  const home = pathOf(given.home) ?? directories.home;

  return Object.freeze({
    agent: agentConfig(given, { api, baseUrl: service.baseUrl }),
    home,
    cache: directories.cache,
    modelDir: pathOf(given.modelDir),
    store: valueFor('store') ?? (given.qdrantUrl === undefined ? 'sqlite' : 'qdrant'),
    qdrant: {
      url: valueFor('qdrantUrl') ?? DEFAULT_QDRANT_URL,
      shardNumber: valueFor('qdrantShards'),
      replicationFactor: valueFor('qdrantReplicas'),
      quantization: valueFor('qdrantQuantization') ?? 'none',
      payloadMap: valueFor('payloadMap') ?? {},
    },
    embedding: {
      ...embedderOf(valueFor('embedder') ?? 'minilm', onnxDirectory(given.embedder)),
      model: valueFor('embeddingModel'),
      dimensions: valueFor('embeddingDimensions'),
      service: resolveEmbeddingService(given, service, secretOf),
    },
    rerank: {
      on: ![undefined, false, JUDGE].includes(valueFor('rerank')),
      judge: valueFor('rerank') === JUDGE,
      model: valueFor('rerankModel'),
      directory: onnxDirectory(given.rerank),
    },
    modelService: service,
    cohereBaseUrl: valueFor('cohereBaseUrl'),
    secrets: Object.freeze(
      Object.fromEntries(
        Object.entries(secretVariables).map(([variable, name]) => [
          name,
          secretOf(variable as SecretVariable),
        ]),
      ) as Record<SecretName, Secret | undefined>,
    ),
    searchTopK: valueFor('topK') ?? NUMBERS.topK.default,
    collectionChosen: given.collection !== undefined,
    origins: Object.freeze(
      Object.fromEntries(Object.entries(given).map(([name, setting]) => [name, setting.origin])),
    ),
    given: Object.freeze(
      Object.fromEntries(Object.entries(given).map(([name, setting]) => [name, setting.value])),
    ),
    settingsFile: directories.settings,
    prices: valueFor('prices') ?? {},
  });
}

function embedderOf(
  embedder: ValueOf<'embedder'>,
  directory: string | undefined,
): Pick<EmbeddingConfig, 'embedder' | 'directory'> {
  const named = EMBEDDERS.find((known) => known === embedder);
  return named === undefined ? { embedder: 'onnx', directory } : { embedder: named, directory: undefined };
}

function readUserFile(path: string): ConfigFile | undefined {
  const fields = readConfigFile(path, 'configuration_error');
  return fields && { path, fields };
}

function findConfigFile(cwd: string, configPath: string | undefined): ConfigFile | undefined {
  const path = resolve(cwd, configPath ?? CONFIG_FILE);
  const fields = readConfigFile(path, configPath === undefined ? 'configuration_error' : 'invalid_input');
  if (fields !== undefined) return { path, fields };
  if (configPath === undefined) return undefined;
  throw new AppError('invalid_input', `Config file ${path} (flag --config) does not exist.`);
}

function agentConfig(
  given: GivenSettings,
  service: Pick<AgentConfig, 'api'> & { baseUrl: string },
): AgentConfig {
  const values = Object.fromEntries(Object.entries(given).map(([name, { value }]) => [name, value]));
  values.api ??= service.api;
  if (given.provider || given.baseUrl) values.baseUrl = service.baseUrl;
  values.contextWindow ??= contextWindowOf(String(values.model ?? ''));
  if ((values.model ?? OFFLINE_MODEL) === OFFLINE_MODEL) {
    values.toolName ??= OFFLINE_DEFAULTS.toolName;
    values.topK ??= OFFLINE_DEFAULTS.topK;
  }
  const contextWindow = Number(values.contextWindow);
  values.maxTokens ??= Math.min(agentDefaults().maxTokens, Math.ceil(contextWindow / 8));
  if (Number(values.maxTokens) >= contextWindow) {
    const blamed = given.maxTokens ?? given.contextWindow;
    throw new AppError(
      blamed?.kind ?? 'configuration_error',
      `maxTokens is ${values.maxTokens} (${given.maxTokens?.origin ?? 'default'}), but it must be below ` +
        `contextWindow, which is ${contextWindow} (${given.contextWindow?.origin ?? 'default'}).`,
    );
  }
  return validated(agentConfigSchema, values, 'The configuration', 'configuration_error');
}

function agentDefaults(): AgentConfig {
  return agentConfigSchema.parse({});
}

function secretFrom(
  name: SecretVariable,
  env: Readonly<Record<string, string | undefined>>,
  dotEnv: Readonly<Record<string, string | undefined>>,
): Secret | undefined {
  const value = (env[name] ?? dotEnv[name])?.trim();
  return value ? createSecret(value) : undefined;
}

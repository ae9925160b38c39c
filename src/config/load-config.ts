import { existsSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, resolve } from 'node:path';
import type * as z from 'zod';
import { type AgentConfig, agentConfigSchema } from '../domain/agent-config.ts';
import { knownContextWindow } from '../domain/context-window.ts';
import {
  CHECKS,
  EMBEDDER_NAMES,
  NUMBER_SETTINGS,
  OFFLINE_DEFAULTS,
  OFFLINE_MODEL,
  ONNX_PREFIX,
  RERANKERS,
} from '../domain/setting-choices.ts';
import { AppError } from '../faults/app-error.ts';
import { parseOrThrow } from '../faults/parse-or-throw.ts';
import {
  collectSettings,
  type GivenSetting,
  type GivenSettings,
  readConfigFile,
  readProjectFiles,
  type SettingsFile,
  settingsThatNeedTrust,
  withoutUntrusted,
} from './collect-settings.ts';
import { defaultDirectories, encoderDirectory } from './directories.ts';
import {
  createKeyLookup,
  listSecrets,
  resolveEmbeddingService,
  resolveHub,
  resolveModelService,
  type ServiceAccess,
} from './service-access.ts';
import type { SecretVariable, SettingName, settingSchemas } from './settings.ts';
import { openTrustStore, UntrustedFilesError } from './trust.ts';

const DEFAULT_QDRANT_URL = 'http://127.0.0.1:6333';

export type AppConfig = ReturnType<typeof loadConfig>;

export type SettingValue<Name extends SettingName> = z.infer<(typeof settingSchemas)[Name]>;

interface ConfigSources {
  /** Flags by the names of the settings; other names are ignored. */
  flags?: Readonly<Record<string, unknown>>;
  /** Options of the library, in place of flags. */
  options?: Readonly<Record<string, unknown>>;
  env?: Readonly<Record<string, string | undefined>>;
  /** Keys of the library's options by variable; they replace those of the environment. */
  keys?: Readonly<Partial<Record<SecretVariable, string>>>;
  cwd?: string;
  /** The file of --config, which must exist. */
  configPath?: string | undefined;
  platform?: NodeJS.Platform;
  /** The settings of a recorded run. Flags override them. Its addresses get no key of the user, as in a project file. */
  tape?: { path: string; fields: Readonly<Record<string, unknown>> };
  /** What to do with settings of project files that the user does not trust; default: throw UntrustedFilesError. */
  whenUntrusted?: 'throw' | 'ignore';
}

/**
 * Merges the sources of settings: flag, environment, project file, user file, default. Throws an AppError that names the
 * source of a bad value: `invalid_input` for a flag, else `configuration_error`. A key from an untrusted file throws only
 * when it is revealed.
 */
export function loadConfig(sources: ConfigSources = {}) {
  const {
    options,
    flags = options ?? {},
    env: variables = process.env,
    keys = {},
    cwd = process.cwd(),
    platform = process.platform,
  } = sources;
  const env = { ...variables, ...keys };
  const directories = defaultDirectories(env, platform);
  const trust = openTrustStore(directories.trust);
  const tape = sources.tape && {
    ...sources.tape,
    project: { path: sources.tape.path, sha256: '', sets: [] },
  };
  const isUntrusted = ({ project }: SettingsFile) =>
    project !== undefined && project !== tape?.project && !trust.isTrusted(project);
  const { project, dotEnv } = readProjectFiles(cwd, sources.configPath);
  const userFields = readConfigFile(directories.settings);
  const user = userFields && { path: directories.settings, fields: userFields };
  const merged = { flags, asOptions: options !== undefined, env, dotEnv, project, user, tape };
  const all = collectSettings(merged);
  const untrusted = settingsThatNeedTrust(all).filter(({ file }) => file && isUntrusted(file));
  if (untrusted.length > 0 && sources.whenUntrusted !== 'ignore') {
    throw new UntrustedFilesError([...new Set(untrusted.flatMap(({ file }) => file?.project ?? []))]);
  }
  const usable = (file: SettingsFile | undefined) =>
    file && isUntrusted(file) ? withoutUntrusted(file) : file;
  const usableSources = { ...merged, project: usable(project), dotEnv: usable(dotEnv) };
  const given = untrusted.length === 0 ? all : collectSettings(usableSources);

  const givenValue = <Name extends SettingName>(name: Name) =>
    given[name]?.value as SettingValue<Name> | undefined;
  const pathOf = (setting: GivenSetting | undefined) =>
    setting && resolve(setting.file === undefined ? cwd : dirname(setting.file.path), String(setting.value));
  const home = pathOf(given.home) ?? directories.home;
  const onnxDirectory = (setting: GivenSetting | undefined) => {
    const value = String(setting?.value ?? '');
    if (setting === undefined || !value.startsWith(ONNX_PREFIX)) return undefined;
    const name = value.slice(ONNX_PREFIX.length);
    const path = pathOf({ ...setting, value: name.replace(/^~(?=\/)/, homedir()) });
    return findEncoder(home, name, path ?? '');
  };
  const keyFor = createKeyLookup(env, dotEnv, (file) => !isUntrusted(file));
  const { api, ...modelService } = resolveModelService(given, keyFor);
  const modelServiceAt = (baseUrl: string): ServiceAccess => {
    const address = tape ? { flags: {}, tape: { ...tape, fields: { baseUrl } } } : { flags: { baseUrl } };
    const { provider: _, ...others } = collectSettings({ ...usableSources, ...address });
    return resolveModelService(others, keyFor);
  };

  return Object.freeze({
    agent: resolveAgentConfig(given, { api, baseUrl: modelService.baseUrl }),
    home,
    cache: directories.cache,
    /** A directory with the weights of the embedder, used instead of the cache. */
    modelDir: pathOf(given.modelDir),
    store: givenValue('store') ?? (given.qdrantUrl === undefined ? 'sqlite' : 'qdrant'),
    qdrant: {
      url: givenValue('qdrantUrl') ?? DEFAULT_QDRANT_URL,
      key: keyFor('QDRANT_API_KEY', given.qdrantUrl),
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
      service: resolveEmbeddingService(given, modelService, keyFor),
    },
    rerank: {
      by:
        RERANKERS.find(
          (known) => known === (givenValue('rerank') ?? (given.rerankBaseUrl ? 'endpoint' : 'words')),
        ) ?? ('onnx' as const),
      baseUrl: givenValue('rerankBaseUrl'),
      key: keyFor('RERANK_API_KEY', given.rerankBaseUrl),
      model: givenValue('rerankModel'),
      /** The directory of a local cross-encoder. */
      directory: onnxDirectory(given.rerank),
    },
    parsing: {
      seconds: givenValue('maxParseSeconds') ?? 60,
      memoryMb: givenValue('maxParseMemoryMb') ?? 1024,
      outputMb: givenValue('maxParseOutputMb') ?? 128,
    },
    check: {
      by: toCheckName(givenValue('check') ?? 'words'),
      /** The directory of a local cross-encoder. */
      directory: onnxDirectory(given.check),
    },
    modelService: modelService as ServiceAccess,
    /** The service of an arm or judge at another address, which the user or the tape gives. */
    modelServiceAt,
    hub: resolveHub(env),
    cohereBaseUrl: givenValue('cohereBaseUrl'),
    cohereKey: keyFor('COHERE_API_KEY', given.cohereBaseUrl),
    /** Every key, also those that are not used, to remove them from output. */
    secrets: listSecrets(env, dotEnv?.fields ?? {}),
    /** Passages of a search without an agent. */
    searchTopK: givenValue('topK') ?? NUMBER_SETTINGS.topK.default,
    /** Whether the collection is set anywhere; otherwise it is the default. */
    collectionChosen: given.collection !== undefined,
    origins: pickField(given, 'origin') as Readonly<Partial<Record<SettingName, string>>>,
    /** The given settings, without defaults. */
    given: pickField(given, 'value') as Readonly<Partial<Record<SettingName, unknown>>>,
    /** The settings that are ignored because their files are not trusted. */
    untrusted: untrusted.map(({ name, value, origin }) => ({ name, value, origin })),
    /** The path of the user's settings; the file may not exist. */
    settingsFile: directories.settings,
    prices: givenValue('prices') ?? {},
    telemetry: resolveTelemetry(variables),
  });
}

/** Tracing by the standard variables. Those of `.env` do not count: a project cannot choose where traces go. */
function resolveTelemetry(env: Readonly<Record<string, string | undefined>>) {
  const endpoint = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || env.OTEL_EXPORTER_OTLP_ENDPOINT;
  const isDisabled = env.OTEL_SDK_DISABLED?.toLowerCase() === 'true';
  const capture = env.OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT ?? '';
  return {
    isExporting: !isDisabled && (env.OTEL_TRACES_EXPORTER || (endpoint ? 'otlp' : 'none')) !== 'none',
    content: /^(true|span_only|span_and_event)$/i.test(capture),
    serviceName:
      env.OTEL_SERVICE_NAME ||
      /\bservice\.name=([^,]*)/.exec(env.OTEL_RESOURCE_ATTRIBUTES ?? '')?.[1] ||
      'citeloop',
    // The detector of processes would export the command line, and with it the question.
    detectors: env.OTEL_NODE_RESOURCE_DETECTORS || 'env,host',
  };
}

function pickField(given: GivenSettings, field: 'origin' | 'value') {
  return Object.freeze(
    Object.fromEntries(Object.entries(given).map(([name, setting]) => [name, setting[field]])),
  );
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

function toCheckName(value: string) {
  return CHECKS.find((known) => known === value) ?? ('onnx' as const);
}

/** The check of an arm; null for an unknown one. A directory is relative to the working directory. */
export function parseCheck(value: string, home: string): AppConfig['check'] | null {
  const by = toCheckName(value);
  if (by !== 'onnx') return { by, directory: undefined };
  if (!value.startsWith(ONNX_PREFIX)) return null;
  const name = value.slice(ONNX_PREFIX.length);
  return { by, directory: findEncoder(home, name, resolve(name)) };
}

/** The directory at a path if there is one, or else that of the encoder that was added under the name. */
function findEncoder(home: string, name: string, path: string): string {
  const added = encoderDirectory(home, name);
  const isDirectory = statSync(path, { throwIfNoEntry: false })?.isDirectory();
  return isDirectory || !existsSync(added) ? path : added;
}

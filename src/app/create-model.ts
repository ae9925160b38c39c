import type { Model } from '@openai/agents-core';
import { createOfflineModel } from '../adapters/offline/offline-model.ts';
import type { OpenAiModelOptions } from '../adapters/openai/create-openai-model.ts';
import type { ModelErrorContext } from '../agent/guards/model-errors.ts';
import type { AppConfig } from '../config/load-config.ts';
import { providerPresets, type ServiceAccess } from '../config/service-access.ts';
import { OFFLINE_MODEL } from '../domain/setting-choices.ts';
import { advice, settingName, settingValue } from '../faults/advice.ts';
import { AppError } from '../faults/app-error.ts';
import type { Runtime } from '../ports/runtime.ts';
import { bearer } from './configured-services.ts';
import type { App } from './create-app.ts';
import { configuredSecrets } from './run-settings.ts';

const MODEL_TIMEOUT_MS = 120_000;
const MODELS_TIMEOUT_MS = 3000;
const OLLAMA_TIMEOUT_MS = 500;
const MAX_NAMED_MODELS = 10;

/** The configured model. Throws `auth_error` if its key is missing. */
export async function createConfiguredModel(app: App, runtime: Runtime): Promise<Model> {
  await assertModelConfigured(app);
  if (app.config.agent.model === OFFLINE_MODEL) return createOfflineModel({ newId: runtime.newId });
  const { createOpenAiModel } = await import('../adapters/openai/create-openai-model.ts');
  return createOpenAiModel(openAiModelOptions(app));
}

/**
 * Whether a model service is chosen without a model. An address in the environment may be meant for other programs, and
 * that of a hosted embedder for it alone.
 */
export function isModelMissing({ origins, agent, embedding }: AppConfig): boolean {
  const isForModel = embedding.embedder !== 'openai' && !origins.baseUrl?.startsWith('environment');
  const service = origins.provider ?? (isForModel ? origins.baseUrl : undefined);
  return service !== undefined && !origins.model && agent.model === OFFLINE_MODEL;
}

/** Throws `configuration_error` with the models of the service if `isModelMissing`. */
export async function assertModelConfigured({ config }: App): Promise<void> {
  if (!isModelMissing(config)) return;
  const { provider, baseUrl } = config.origins;
  const service = provider ? `The provider is set (${provider})` : `A server is set (${baseUrl})`;
  const names = (await listServiceModels(config.modelService)).slice(0, MAX_NAMED_MODELS);
  const known = names.length === 0 ? '' : ` The server has ${names.join(', ')}.`;
  throw new AppError('configuration_error', `${service}, but no model.`, {
    hint: advice`Set ${settingName('model', 'the setting model')} or OPENAI_MODEL.${known}`,
  });
}

/** Throws an AppError if the configured model cannot be called, without calling it. */
export async function assertModelUsable(app: App): Promise<void> {
  await assertModelConfigured(app);
  if (app.config.agent.model !== OFFLINE_MODEL) openAiModelOptions(app);
}

/** The options to call the configured model with. Throws `auth_error` if a key is missing, and `configuration_error` for a GGUF file. */
export function openAiModelOptions({ config }: App): OpenAiModelOptions {
  const { model, api, maxEventBytes, maxAnswerCharacters } = config.agent;
  const { baseUrl, key, keyVariable, needsKey } = config.modelService;
  const isDefaultService = config.agent.baseUrl === undefined && config.origins.provider === undefined;
  if (isDefaultService && /\.gguf$/i.test(model)) {
    throw new AppError('configuration_error', `citeloop does not run GGUF files: ${model}.`, {
      hint: advice`Serve the model with Ollama or llama.cpp's llama-server, and name that server with ${settingName('baseUrl')}.`,
    });
  }
  if (needsKey && key === undefined) {
    throw new AppError('auth_error', `The model ${model} needs a key, and ${keyVariable} is not set.`, {
      hint: advice`Set ${keyVariable} in the environment or in .env, name a server with ${settingName('baseUrl')}, or use ${settingValue('model', OFFLINE_MODEL, `the model ${OFFLINE_MODEL}`)}.`,
    });
  }
  return {
    model,
    baseUrl,
    api,
    apiKey: key?.reveal(),
    timeoutMs: MODEL_TIMEOUT_MS,
    maxEventBytes,
    maxAnswerCharacters,
  };
}

/** What error messages about the model name; nothing of the configured service if the model is an object of the caller. */
export function createModelErrorContext(app: App, isOwnModel = false): ModelErrorContext {
  const { model } = app.config.agent;
  if (model === OFFLINE_MODEL) return { model };
  const secrets = configuredSecrets(app.config);
  if (isOwnModel) return { model, secrets };
  const { baseUrl, keyVariable } = app.config.modelService;
  return { model, baseUrl, keyVariable, secrets };
}

/** The models of a service that needs no key or has one; empty if it does not list them in time. Never throws. */
export async function listServiceModels(
  { baseUrl, needsKey, key }: ServiceAccess,
  timeoutMs = MODELS_TIMEOUT_MS,
): Promise<string[]> {
  if (needsKey && key === undefined) return [];
  try {
    const response = await fetch(`${baseUrl.replace(/\/$/, '')}/models`, {
      headers: bearer(key?.reveal()),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const { data = [] } = (await response.json()) as { data?: { id?: unknown }[] };
    return data.flatMap(({ id }) => (typeof id === 'string' ? [id] : []));
  } catch {
    return [];
  }
}

/** The models of an Ollama server on this machine; empty if there is none. Never throws. */
export function listOllamaModels(): Promise<string[]> {
  return listServiceModels({ ...providerPresets.ollama, key: undefined }, OLLAMA_TIMEOUT_MS);
}

import type { Model } from '@openai/agents-core';
import { createOfflineModel } from '../adapters/offline/offline-model.ts';
import type { OpenAiModelOptions } from '../adapters/openai/create-openai-model.ts';
import type { ModelErrorContext } from '../agent/guards/model-errors.ts';
import { OFFLINE_MODEL } from '../domain/setting-choices.ts';
import { advice, settingName, settingValue } from '../faults/advice.ts';
import { AppError } from '../faults/app-error.ts';
import type { Runtime } from '../ports/runtime.ts';
import type { App } from './create-app.ts';
import { configuredSecrets } from './run-settings.ts';

const MODEL_TIMEOUT_MS = 120_000;

/** The configured model. Throws `auth_error` if its key is missing. */
export async function createConfiguredModel(app: App, runtime: Runtime): Promise<Model> {
  assertModelConfigured(app);
  if (app.config.agent.model === OFFLINE_MODEL) return createOfflineModel({ newId: runtime.newId });
  const { createOpenAiModel } = await import('../adapters/openai/create-openai-model.ts');
  return createOpenAiModel(openAiModelOptions(app));
}

/** Throws `configuration_error` if a provider is set without a model. */
export function assertModelConfigured({ config }: App): void {
  const { provider } = config.origins;
  if (provider === undefined || config.origins.model || config.agent.model !== OFFLINE_MODEL) return;
  throw new AppError('configuration_error', `The provider is set (${provider}), but no model.`, {
    hint: advice`Set ${settingName('model', 'the setting model')} or OPENAI_MODEL.`,
  });
}

/** Throws an AppError if the configured model cannot be called, without calling it. */
export function assertModelUsable(app: App): void {
  assertModelConfigured(app);
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

import type { Model } from '@openai/agents-core';
import type { Similarity } from './adapters/offline/extract-answer.ts';
import { createOfflineModel } from './adapters/offline/offline-model.ts';
import type { OpenAiModelOptions } from './adapters/openai/create-openai-model.ts';
import type { Agent } from './agent/agent.ts';
import { createConversationAgent } from './agent/create-agent.ts';
import type { FaultContext } from './agent/model-faults/to-app-error.ts';
import { OFFLINE_MODEL } from './domain/agent-config.ts';
import { AppError } from './domain/app-error.ts';
import type { SearchMode } from './domain/search-mode.ts';
import type { ChunkStore } from './ports/chunk-store.ts';
import type { Runtime } from './ports/runtime.ts';
import type { SessionStore } from './ports/session-store.ts';
import type { App } from './wire.ts';

const MODEL_TIMEOUT_MS = 120_000;

export interface WireAgentOptions {
  store: ChunkStore;
  sessions: SessionStore;
  mode?: SearchMode | undefined;
  readSource?: boolean | undefined;
  /** The SDK's own tracing, to whatever processors it was given. */
  tracing?: boolean | undefined;
  runtime?: Runtime;
  /** Instead of the configured model. */
  model?: Model | undefined;
}

/** The agent on a collection. Apart from `wire.ts`, so that commands without a model do not load the SDK. */
export async function wireAgent(app: App, options: WireAgentOptions): Promise<Agent> {
  const { store, sessions, mode = 'hybrid', readSource = false, runtime = app.runtime } = options;
  const { traceFile } = app.config;
  if (traceFile !== undefined) {
    const { traceToFile } = await import('./adapters/openai/trace-to-file.ts');
    await traceToFile(traceFile);
  }
  return createConversationAgent({
    config: app.config.agent,
    model: options.model ?? (await createModel(app, runtime)),
    store,
    retriever: await app.retriever(store, { mode }),
    sessions,
    runtime,
    readSource,
    tracing: options.tracing ?? traceFile !== undefined,
    faults: faultContext(app),
  });
}

/** The configured model on its own. Throws `auth_error` where it needs a key. */
export async function createModel(app: App, runtime: Runtime): Promise<Model> {
  assertModelNamed(app);
  if (app.config.agent.model === OFFLINE_MODEL)
    return createOfflineModel({ similarity: bySentence(app), newId: runtime.newId });
  const { createOpenAiModel } = await import('./adapters/openai/create-openai-model.ts');
  return createOpenAiModel(openAiModelOptions(app));
}

/** Whoever names a provider does not want to be answered by the model that needs none. */
export function assertModelNamed({ config }: App): void {
  const { provider } = config.origins;
  if (provider === undefined || config.origins.model || config.agent.model !== OFFLINE_MODEL) return;
  throw new AppError('configuration_error', `A provider is named (${provider}), but none of its models.`, {
    hint: 'Name one with --model or OPENAI_MODEL.',
  });
}

/** Throws what is missing for the configured model to be called at all. */
export function assertModelUsable(app: App): void {
  assertModelNamed(app);
  if (app.config.agent.model !== OFFLINE_MODEL) openAiModelOptions(app);
}

/** How the configured model is called. Throws `auth_error` where it is known to need a key and there is none. */
export function openAiModelOptions(app: App): OpenAiModelOptions {
  const { model, api } = app.config.agent;
  const { baseUrl, key, keyVariable, needsKey } = app.config.modelService;
  if (needsKey && key === undefined) {
    throw new AppError('auth_error', `The model ${model} needs a key, and ${keyVariable} is not set.`, {
      hint: `Set ${keyVariable} in the environment or in .env, name a server with --base-url, or use --model offline.`,
    });
  }
  return { model, baseUrl, api, apiKey: key?.reveal(), timeoutMs: MODEL_TIMEOUT_MS };
}

/** What sentences about faults of the model name. */
export function faultContext(app: App): FaultContext {
  const { model } = app.config.agent;
  if (model === OFFLINE_MODEL) return { model };
  const { baseUrl, key, keyVariable } = app.config.modelService;
  return { model, baseUrl, keyVariable, apiKey: key?.reveal() };
}

/** Sentences compared with a question by the embedder that the search uses. */
export function bySentence(app: App): Similarity {
  return async (query, texts) => {
    const embedder = await app.embedder();
    const wanted = await embedder.embedQuery(query);
    const vectors = await embedder.embedDocuments(texts);
    return vectors.map((vector) =>
      vector.reduce((sum, value, index) => sum + value * (wanted[index] ?? 0), 0),
    );
  };
}

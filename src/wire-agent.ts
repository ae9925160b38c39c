import type { Model } from '@openai/agents-core';
import type { Similarity } from './adapters/offline/extract-answer.ts';
import { createOfflineModel } from './adapters/offline/offline-model.ts';
import type { Agent } from './agent/agent.ts';
import { createConversationAgent } from './agent/create-agent.ts';
import type { FaultContext } from './agent/model-faults/to-app-error.ts';
import { OFFLINE_MODEL } from './domain/agent-config.ts';
import { AppError } from './domain/app-error.ts';
import type { SearchMode } from './domain/search-mode.ts';
import type { ChunkStore } from './ports/chunk-store.ts';
import type { Runtime } from './ports/runtime.ts';
import type { SessionStore } from './ports/session-store.ts';
import { systemRuntime } from './system-runtime.ts';
import type { App } from './wire.ts';

const OPENAI_URL = 'https://api.openai.com/v1';
const MODEL_TIMEOUT_MS = 120_000;

export interface WireAgentOptions {
  store: ChunkStore;
  sessions: SessionStore;
  mode?: SearchMode | undefined;
  readSource?: boolean | undefined;
  runtime?: Runtime;
  /** Instead of the configured model. */
  model?: Model | undefined;
}

/** The agent on a collection. Apart from `wire.ts`, so that commands without a model do not load the SDK. */
export async function wireAgent(app: App, options: WireAgentOptions): Promise<Agent> {
  const { store, sessions, mode = 'hybrid', readSource = false, runtime = systemRuntime } = options;
  return createConversationAgent({
    config: app.config.agent,
    model: options.model ?? (await createModel(app, runtime)),
    store,
    retriever: app.retriever(store, { mode }),
    sessions,
    runtime,
    readSource,
    faults: faultContext(app),
  });
}

/** The configured model on its own. Throws `auth_error` where it needs a key. */
export async function createModel(app: App, runtime: Runtime): Promise<Model> {
  const { model, baseUrl, api } = app.config.agent;
  if (model === OFFLINE_MODEL)
    return createOfflineModel({ similarity: bySentence(app), newId: runtime.newId });
  const key = app.config.secrets.openaiApiKey;
  if (key === undefined && baseUrl === undefined) {
    throw new AppError('auth_error', `The model ${model} needs a key, and OPENAI_API_KEY is not set.`, {
      hint: 'Set OPENAI_API_KEY in the environment or in .env, name a server with --base-url, or use --model offline.',
    });
  }
  const { createOpenAiModel } = await import('./adapters/openai/create-openai-model.ts');
  return createOpenAiModel({
    model,
    baseUrl: baseUrl ?? OPENAI_URL,
    api,
    apiKey: key?.reveal(),
    timeoutMs: MODEL_TIMEOUT_MS,
  });
}

function faultContext(app: App): FaultContext {
  const { model, baseUrl } = app.config.agent;
  if (model === OFFLINE_MODEL) return { model };
  const apiKey = app.config.secrets.openaiApiKey?.reveal();
  return { model, baseUrl: baseUrl ?? OPENAI_URL, keyVariable: 'OPENAI_API_KEY', apiKey };
}

/** Sentences compared with a question by the embedder that the search uses. */
function bySentence(app: App): Similarity {
  return async (query, texts) => {
    const embedder = await app.embedder();
    const wanted = await embedder.embedQuery(query);
    const vectors = await embedder.embedDocuments(texts);
    return vectors.map((vector) =>
      vector.reduce((sum, value, index) => sum + value * (wanted[index] ?? 0), 0),
    );
  };
}

import type { Model } from '@openai/agents-core';
import { createTolerantClient } from './tolerant-client.ts';
import { createTolerantFetch } from './tolerant-fetch.ts';
import { usableAlone } from './usable-alone.ts';
import type { Dialect } from './wire/exchange.ts';

export interface OpenAiModelOptions {
  model: string;
  baseUrl: string;
  api: 'responses' | 'chat_completions';
  /** Servers on the own machine mostly need none. */
  apiKey?: string | undefined;
  /** Until a streamed answer begins, or one in a single piece is there. */
  timeoutMs: number;
  fetch?: typeof globalThis.fetch;
}

/**
 * A model of any service that speaks OpenAI's Responses or Chat Completions API, however loosely. It makes
 * one attempt per call and throws what went wrong as it came; `toAppError` says it in words.
 */
export async function createOpenAiModel(options: OpenAiModelOptions): Promise<Model> {
  const { api } = options;
  const dialect: Dialect = { refused: new Set() };
  const [{ OpenAIChatCompletionsModel, OpenAIResponsesModel }, { APIError, OpenAI }] = await Promise.all([
    import('@openai/agents-openai'),
    import('openai'),
  ]);
  // Looked up at each call, so that whoever replaces the global one is obeyed.
  const fetch = options.fetch ?? ((...request) => globalThis.fetch(...request));
  const client = new OpenAI({
    apiKey: options.apiKey ?? 'none',
    ...(options.apiKey === undefined && { defaultHeaders: { Authorization: null } }),
    baseURL: options.baseUrl,
    // Unless told, the client takes these from the environment, whatever service it talks to.
    organization: null,
    project: null,
    adminAPIKey: null,
    logLevel: 'off',
    maxRetries: 0,
    timeout: options.timeoutMs,
    fetch: createTolerantFetch(fetch, api, dialect),
  });
  const tolerant = createTolerantClient(
    client,
    api,
    dialect,
    (error, headers) => new APIError(undefined, error, undefined, headers),
  );
  const sdkModel =
    api === 'responses'
      ? new OpenAIResponsesModel(tolerant, options.model)
      : new OpenAIChatCompletionsModel(tolerant, options.model);
  return usableAlone(sdkModel);
}

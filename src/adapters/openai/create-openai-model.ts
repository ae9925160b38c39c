import { getCurrentTrace, type Model, NoopTrace, withTrace } from '@openai/agents-core';
import { OpenAIChatCompletionsModel, OpenAIResponsesModel } from '@openai/agents-openai';
import { OpenAI } from 'openai';
import { createTolerantFetch } from './tolerant-fetch.ts';

export interface OpenAiModelOptions {
  model: string;
  baseUrl: string;
  api: 'responses' | 'chat_completions';
  /** Local servers mostly need none. */
  apiKey?: string | undefined;
  /** Until a streamed answer begins, or until a whole answer has arrived. */
  timeoutMs: number;
  /** Maximum size of one event of a stream; default 8 MB. */
  maxEventBytes?: number;
  /** Maximum length of an answer; default 200,000. Limits how much of a response is read. */
  maxAnswerCharacters?: number;
  fetch?: typeof globalThis.fetch;
}

/** The most bytes that a service sends for one character: an event for it alone, with all its fields. */
const MAX_BYTES_PER_CHARACTER = 400;

/**
 * A model of any service with OpenAI's Responses or Chat Completions API. Makes one attempt per call and throws errors
 * unchanged; `toAppError` describes them.
 */
export function createOpenAiModel(options: OpenAiModelOptions): Model {
  const { api, apiKey, maxEventBytes = 8_000_000, maxAnswerCharacters = 200_000 } = options;
  const client = new OpenAI({
    apiKey: apiKey ?? 'none',
    ...(apiKey === undefined && { defaultHeaders: { Authorization: null } }),
    baseURL: options.baseUrl,
    // The client would otherwise read these from the environment, whatever service it calls.
    organization: null,
    project: null,
    adminAPIKey: null,
    logLevel: 'off',
    maxRetries: 0,
    timeout: options.timeoutMs,
    fetch: createTolerantFetch({
      // Looked up at each call, because recording and tests replace the global fetch.
      fetch: options.fetch ?? ((...request) => globalThis.fetch(...request)),
      api,
      maxEventBytes,
      maxAnswerBytes: maxAnswerCharacters * MAX_BYTES_PER_CHARACTER,
    }),
  });
  return withOwnTrace(
    api === 'responses'
      ? new OpenAIResponsesModel(client, options.model)
      : new OpenAIChatCompletionsModel(client, options.model),
  );
}

/** The SDK's `getResponse` throws outside of a trace; the Runner opens one, other callers get one that is not exported. */
function withOwnTrace(model: Model): Model {
  return {
    getResponse: (request) =>
      getCurrentTrace() === null
        ? withTrace(new NoopTrace(), () => model.getResponse(request))
        : model.getResponse(request),
    getStreamedResponse: (request) => model.getStreamedResponse(request),
  };
}

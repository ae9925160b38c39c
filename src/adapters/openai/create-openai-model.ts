import { getCurrentTrace, type Model, NoopTrace, withTrace } from '@openai/agents-core';
import { OpenAIChatCompletionsModel, OpenAIResponsesModel } from '@openai/agents-openai';
import { APIError, OpenAI } from 'openai';
import { AnswerAsEvents, type Api, createTolerantFetch } from './tolerant-fetch.ts';
import type { AnswerLimits } from './wire/broken-answer.ts';
import { createChatStreamMender } from './wire/chat-stream.ts';
import { type Dialect, type Exchange, startExchange } from './wire/exchange.ts';
import type { JsonObject } from './wire/json-object.ts';
import { mendChatMessages } from './wire/mend-chat-request.ts';
import { mendParameters } from './wire/mend-parameters.ts';
import { createResponseStreamMender } from './wire/response-stream.ts';
import { mendedEvents } from './wire/stream-mender.ts';

export interface OpenAiModelOptions {
  model: string;
  baseUrl: string;
  api: 'responses' | 'chat_completions';
  /** Servers on the own machine mostly need none. */
  apiKey?: string | undefined;
  /** Until a streamed answer begins, or one in a single piece is there. */
  timeoutMs: number;
  /** How long one event of a stream may be; 8 MB unless given. */
  maxEventBytes?: number;
  /** How long an answer may be; 200,000 characters unless given. What is read of it is bounded by that. */
  maxAnswerCharacters?: number;
  fetch?: typeof globalThis.fetch;
}

/**
 * A model of any service that speaks OpenAI's Responses or Chat Completions API, however loosely. It makes
 * one attempt per call and throws what went wrong as it came; `toAppError` says it in words.
 */
export function createOpenAiModel(options: OpenAiModelOptions): Model {
  const { api, maxEventBytes = 8_000_000, maxAnswerCharacters = 200_000 } = options;
  const limits = { event: maxEventBytes, answer: maxAnswerCharacters * BYTES_A_CHARACTER };
  const dialect: Dialect = { refused: new Set() };
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
    fetch: createTolerantFetch(fetch, api, dialect, limits.answer),
  });
  const tolerant = createTolerantClient(
    client,
    api,
    dialect,
    (error, headers) => new APIError(undefined, error, undefined, headers),
    limits,
  );
  const sdkModel =
    api === 'responses'
      ? new OpenAIResponsesModel(tolerant, options.model)
      : new OpenAIChatCompletionsModel(tolerant, options.model);
  return usableAlone(sdkModel);
}

/** An event that brings a single character, with all that stands around it. */
const BYTES_A_CHARACTER = 400;

type RequestOptions = Parameters<OpenAI['post']>[1];

/** How the client reports an error event of a stream. */
type ErrorOfEvent = (error: object, headers: Headers) => Error;

const PATHS: Record<Api, string> = { responses: '/responses', chat_completions: '/chat/completions' };

/**
 * What the SDK's models use of a client, with the wire mended in both directions. The events of a stream are
 * read and mended in one go, where the client would read them once more.
 */
function createTolerantClient(
  client: OpenAI,
  api: Api,
  dialect: Dialect,
  errorOfEvent: ErrorOfEvent,
  limits: AnswerLimits,
): OpenAI {
  const mended = (request: JsonObject): JsonObject => {
    const body =
      api === 'responses' ? request : { ...request, messages: mendChatMessages(request.messages, dialect) };
    return mendParameters(body, client.baseURL, api, dialect);
  };

  async function stream(
    body: JsonObject,
    options: RequestOptions,
  ): Promise<AsyncGenerator<JsonObject, void, undefined>> {
    const response = await client.post(PATHS[api], { ...options, body, stream: true }).asResponse();
    return eventsOf(response, startExchange(body, dialect));
  }

  function eventsOf(response: Response, exchange: Exchange): AsyncGenerator<JsonObject, void, undefined> {
    if (response instanceof AnswerAsEvents || response.body === null) return wholeAnswer(response);
    const mender =
      api === 'responses' ? createResponseStreamMender(exchange) : createChatStreamMender(exchange);
    return mendedEvents(response.body, mender, (error) => errorOfEvent(error, response.headers), limits);
  }

  const create = (request: JsonObject, options: RequestOptions) => {
    const body = mended(request);
    if (body.stream === true) return stream(body, options);
    return client.post(PATHS[api], { ...options, body });
  };
  // The SDK's models ask for the whole client, whatever they use of it.
  return {
    baseURL: client.baseURL,
    chat: { completions: { create } },
    responses: { create },
  } as unknown as OpenAI;
}

async function* wholeAnswer(response: Response): AsyncGenerator<JsonObject, void, undefined> {
  if (response instanceof AnswerAsEvents) yield* response.events;
}

/**
 * The SDK's models answer in one piece only inside a trace. The Runner opens one; whoever calls the model
 * without it gets one that leads nowhere.
 */
function usableAlone(model: Model): Model {
  return {
    getResponse: (request) =>
      getCurrentTrace() === null
        ? withTrace(new NoopTrace(), () => model.getResponse(request))
        : model.getResponse(request),
    getStreamedResponse: (request) => model.getStreamedResponse(request),
  };
}

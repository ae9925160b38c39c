import type { OpenAI } from 'openai';
import { AnswerAsEvents, type Api } from './tolerant-fetch.ts';
import { createChatStreamMender } from './wire/chat-stream.ts';
import { type Dialect, type Exchange, startExchange } from './wire/exchange.ts';
import type { JsonObject } from './wire/json-object.ts';
import { mendChatMessages } from './wire/mend-chat-request.ts';
import { mendParameters } from './wire/mend-parameters.ts';
import { createResponseStreamMender } from './wire/response-stream.ts';
import { mendedEvents } from './wire/stream-mender.ts';

type RequestOptions = Parameters<OpenAI['post']>[1];

/** How the client reports an error event of a stream. */
type ErrorOfEvent = (error: object, headers: Headers) => Error;

const PATHS: Record<Api, string> = { responses: '/responses', chat_completions: '/chat/completions' };

/**
 * What the SDK's models use of a client, with the wire mended in both directions. The events of a stream are
 * read and mended in one go, where the client would read them once more.
 */
export function createTolerantClient(
  client: OpenAI,
  api: Api,
  dialect: Dialect,
  errorOfEvent: ErrorOfEvent,
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
    return mendedEvents(response.body, mender, (error) => errorOfEvent(error, response.headers));
  }

  const create = (request: JsonObject, options: RequestOptions) => {
    const body = mended(request);
    if (body.stream === true) return stream(body, options);
    return client.post(PATHS[api], { ...options, body });
  };
  return {
    baseURL: client.baseURL,
    chat: { completions: { create } },
    responses: { create },
  } as unknown as OpenAI;
}

async function* wholeAnswer(response: Response): AsyncGenerator<JsonObject, void, undefined> {
  if (response instanceof AnswerAsEvents) yield* response.events;
}

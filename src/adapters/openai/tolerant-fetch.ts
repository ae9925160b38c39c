import { notAnAnswer } from './wire/broken-answer.ts';
import { chatCompletionAsEvents, mendChatCompletion } from './wire/chat-completion.ts';
import { createChatStreamMender } from './wire/chat-stream.ts';
import { type Dialect, type Exchange, startExchange } from './wire/exchange.ts';
import { isObject, type JsonObject, parseJson } from './wire/json-object.ts';
import { mendChatRequest } from './wire/mend-chat-request.ts';
import { mendResponse } from './wire/mend-response.ts';
import { refusedParameter } from './wire/refused-parameter.ts';
import { createResponseStreamMender, responseAsEvents } from './wire/response-stream.ts';
import { mendStream } from './wire/stream-mender.ts';
import { type WireError, wireErrorOf } from './wire/wire-error.ts';

type Fetch = typeof globalThis.fetch;
type Api = 'responses' | 'chat_completions';

const MAX_REFUSALS = 4;

/**
 * A fetch that mends the wire before the SDK sees it, in both directions, so that services which keep to the
 * specification only roughly work like those which do. An error inside an answer with status 200 becomes an
 * HTTP error, or an error event. A parameter that a service does not know is left out from then on.
 */
export function createTolerantFetch(fetch: Fetch, api: Api): Fetch {
  const dialect: Dialect = { refused: new Set() };
  return async (input, init) => {
    const request = parseJson(String(init?.body));
    if (!isObject(request)) return fetch(input, init);
    const url = String(input instanceof Request ? input.url : input);
    for (let refusals = 0; ; refusals++) {
      const body = mendRequest(request, url, api, dialect);
      const response = await fetch(input, { ...init, body: JSON.stringify(body) });
      const error = response.ok ? undefined : await readError(response);
      if (error === undefined) return mendAnswer(response, body, api, dialect);
      const refused = refusedParameter(error);
      if (refused === undefined || dialect.refused.has(refused) || refusals === MAX_REFUSALS) {
        return errorResponse(error, response.headers);
      }
      dialect.refused.add(refused);
    }
  };
}

function mendRequest(request: JsonObject, url: string, api: Api, dialect: Dialect): JsonObject {
  const body = api === 'responses' ? request : mendChatRequest(request, url, dialect);
  return Object.fromEntries(Object.entries(body).filter(([key]) => !dialect.refused.has(key)));
}

async function mendAnswer(
  response: Response,
  request: JsonObject,
  api: Api,
  dialect: Dialect,
): Promise<Response> {
  const exchange = startExchange(request, dialect);
  const type = response.headers.get('content-type') ?? '';
  if (request.stream === true && response.body !== null && !/json|html/.test(type)) {
    const mender =
      api === 'responses' ? createResponseStreamMender(exchange) : createChatStreamMender(exchange);
    return answer(mendStream(response.body, mender), response, 'text/event-stream');
  }
  const text = await response.text();
  const body = parseJson(text);
  const error = wireErrorOf(body);
  if (error !== undefined) return errorResponse(error, response.headers);
  if (!isObject(body)) throw notAnAnswer(text);
  return mendWhole(body, request.stream === true, response, api, exchange);
}

function mendWhole(
  body: JsonObject,
  asStream: boolean,
  response: Response,
  api: Api,
  exchange: Exchange,
): Response {
  const mended = api === 'responses' ? mendResponse(body, exchange) : mendChatCompletion(body, exchange);
  if (!asStream) return answer(JSON.stringify(mended), response, 'application/json');
  const events = api === 'responses' ? responseAsEvents(mended) : chatCompletionAsEvents(mended);
  const lines = events.map((event) => `data: ${JSON.stringify(event)}\n\n`);
  return answer(`${lines.join('')}data: [DONE]\n\n`, response, 'text/event-stream');
}

async function readError(response: Response): Promise<WireError> {
  const text = await response.text();
  const plain = /^\s*</.test(text) ? '' : text;
  return (
    wireErrorOf(parseJson(text), response.status) ?? {
      message: plain.trim() || `HTTP ${response.status} ${response.statusText}`.trim(),
      status: response.status,
    }
  );
}

function errorResponse(error: WireError, headers: Headers): Response {
  const { status } = error;
  return new Response(JSON.stringify({ error }), { status, headers: headersOf(headers, 'application/json') });
}

function answer(body: string | ReadableStream<Uint8Array>, { headers }: Response, type: string): Response {
  return new Response(body, { status: 200, headers: headersOf(headers, type) });
}

/** Those of the service, apart from what described the body as it was sent. */
function headersOf(headers: Headers, type: string): Headers {
  const kept = new Headers(headers);
  kept.delete('content-length');
  kept.delete('content-encoding');
  kept.set('content-type', type);
  return kept;
}

import { ReadableStream as IterableStream } from 'node:stream/web';
import { isJsonObject, parseJson } from '../../text/parse-json.ts';
import { answerTooLong, notAnAnswer } from './wire/answer-errors.ts';
import { createChatStreamRepair, repairChatCompletion, toChatEvents } from './wire/chat-answers.ts';
import { repairEvents } from './wire/event-stream.ts';
import type { JsonObject } from './wire/json-object.ts';
import { refusedParameter, repairRequest } from './wire/repair-request.ts';
import { createResponseStreamRepair, repairResponse, toResponseEvents } from './wire/response-answers.ts';
import { parseWireError, type WireError } from './wire/wire-error.ts';
import { type ServiceQuirks, startExchange, type WireApi, type WireExchange } from './wire/wire-exchange.ts';

type Fetch = typeof globalThis.fetch;

interface TolerantFetchOptions {
  fetch: Fetch;
  api: WireApi;
  maxEventBytes: number;
  maxAnswerBytes: number;
}

const MAX_REFUSED_PARAMETERS = 4;

/**
 * A fetch for the OpenAI client that repairs requests and answers, so that services that follow the specification
 * loosely work too. An error inside an answer with status 200 becomes an HTTP error, and a parameter that the service
 * refuses is omitted from then on. Reads no more of an answer than the limits allow.
 */
export function createTolerantFetch(options: TolerantFetchOptions): Fetch {
  const { fetch, api, maxEventBytes, maxAnswerBytes } = options;
  const quirks: ServiceQuirks = { refusedParameters: new Set() };
  return async (input, init) => {
    const given = parseJson(String(init?.body));
    if (!isJsonObject(given)) return fetch(input, init);
    const url = String(input instanceof Request ? input.url : input);
    for (let refusals = 0; ; refusals++) {
      const request = repairRequest(given, url, api, quirks);
      const body = JSON.stringify(request);
      const response = limitLength(await fetch(input, { ...init, body }), maxAnswerBytes);
      if (response.ok)
        return repairAnswer(response, startExchange(request, quirks), { api, maxEventBytes, request });
      const error = await readError(response);
      const refused = refusedParameter(error);
      // A parallel request may have learned of it since this one was sent.
      const isHopeless =
        refused === undefined || (quirks.refusedParameters.has(refused) && !Object.hasOwn(request, refused));
      if (isHopeless || refusals === MAX_REFUSED_PARAMETERS) return toErrorResponse(error, response.headers);
      quirks.refusedParameters.add(refused);
    }
  };
}

interface AnswerContext extends Pick<TolerantFetchOptions, 'api' | 'maxEventBytes'> {
  request: JsonObject;
}

async function repairAnswer(
  response: Response,
  exchange: WireExchange,
  { api, maxEventBytes, request }: AnswerContext,
): Promise<Response> {
  const isResponsesApi = api === 'responses';
  const isStreamed = request.stream === true;
  const repairStream = (body: ReadableStream<Uint8Array>) => {
    const repair = isResponsesApi ? createResponseStreamRepair(exchange) : createChatStreamRepair(exchange);
    return toStreamResponse(repairEvents(body, repair, maxEventBytes), response.headers);
  };
  const isJson = /json|html/.test(response.headers.get('content-type') ?? '');
  if (isStreamed && response.body !== null && !isJson) return repairStream(response.body);
  const text = await response.text();
  // Some services stream with the content type of JSON.
  if (isStreamed && /^\s*(data|event)?:/.test(text)) return repairStream(new Blob([text]).stream());
  const body = parseJson(text);
  const error = parseWireError(body);
  if (error !== undefined) return toErrorResponse(error, response.headers);
  if (!isJsonObject(body)) throw notAnAnswer(text);
  const repaired = isResponsesApi ? repairResponse(body, exchange) : repairChatCompletion(body, exchange);
  if (!isStreamed) return new Response(JSON.stringify(repaired), { headers: bodyHeaders(response.headers) });
  const events = isResponsesApi ? toResponseEvents(repaired) : toChatEvents(repaired);
  return toStreamResponse([events], response.headers);
}

function toStreamResponse(
  events: AsyncIterable<JsonObject[]> | Iterable<JsonObject[]>,
  headers: Headers,
): Response {
  const encoder = new TextEncoder();
  async function* encode() {
    for await (const each of events)
      yield encoder.encode(each.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
  }
  // The types of the two streams differ.
  const body: unknown = IterableStream.from(encode());
  return new Response(body as ReadableStream, { headers: bodyHeaders(headers, 'text/event-stream') });
}

/** The same response, whose body fails when it is longer than `maxBytes`. */
function limitLength(response: Response, maxBytes: number): Response {
  if (response.body === null) return response;
  let received = 0;
  const counting = new TransformStream<Uint8Array, Uint8Array>({
    transform(bytes, controller) {
      received += bytes.length;
      if (received > maxBytes) controller.error(answerTooLong(maxBytes));
      else controller.enqueue(bytes);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(counting), { status, statusText, headers });
}

async function readError(response: Response): Promise<WireError> {
  const text = await response.text();
  const plain = /^\s*</.test(text) ? '' : text;
  return (
    parseWireError(parseJson(text), response.status) ?? {
      message: plain.trim() || `HTTP ${response.status} ${response.statusText}`.trim(),
      status: response.status,
    }
  );
}

function toErrorResponse(error: WireError, headers: Headers): Response {
  return new Response(JSON.stringify({ error }), { status: error.status, headers: bodyHeaders(headers) });
}

/** The headers of the service without those that described the original body. */
function bodyHeaders(headers: Headers, type = 'application/json'): Headers {
  const kept = new Headers(headers);
  kept.delete('content-length');
  kept.delete('content-encoding');
  kept.set('content-type', type);
  return kept;
}

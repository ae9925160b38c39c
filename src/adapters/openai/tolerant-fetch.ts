import { endlessAnswer, notAnAnswer } from './wire/broken-answer.ts';
import { type Dialect, startExchange } from './wire/exchange.ts';
import { isObject, type JsonObject, parseJson } from './wire/json-object.ts';
import { chatCompletionAsEvents, mendChatCompletion } from './wire/mend-chat-completion.ts';
import { mendParameters, refusedParameter } from './wire/mend-parameters.ts';
import { mendResponse } from './wire/mend-response.ts';
import { responseAsEvents } from './wire/response-stream.ts';
import { type WireError, wireErrorOf } from './wire/wire-error.ts';

type Fetch = typeof globalThis.fetch;
export type Api = 'responses' | 'chat_completions';

const MAX_REFUSALS = 4;

/** An answer in one piece where a stream was asked for, as the events that a stream would have brought. */
export class AnswerAsEvents extends Response {
  readonly events: readonly JsonObject[];

  constructor(events: readonly JsonObject[], headers: Headers) {
    super(null, { headers });
    this.events = events;
  }
}

/**
 * A fetch that mends answers in one piece before the client sees them, so that services which keep to the
 * specification only roughly work like those which do. An error inside an answer with status 200 becomes an
 * HTTP error. A parameter that a service does not know is left out from then on. Streams pass as they came; of
 * anything else no more is read than `maxBytes`.
 */
export function createTolerantFetch(fetch: Fetch, api: Api, dialect: Dialect, maxBytes: number): Fetch {
  return async (input, init) => {
    let sent = init;
    for (let refusals = 0; ; refusals++) {
      const response = await fetch(input, sent);
      const type = response.headers.get('content-type') ?? '';
      // What nearly every answer is; the request need not be read again for it.
      if (response.ok && type.startsWith('text/event-stream') && response.body !== null) return response;
      const request = parseJson(String(sent?.body));
      if (!isObject(request)) return response;
      const bounded = atMost(maxBytes, response);
      const error = response.ok ? undefined : await readError(bounded);
      if (error === undefined) return mendAnswer(bounded, type, request, api, dialect);
      const refused = refusedParameter(error);
      if (refused === undefined || dialect.refused.has(refused) || refusals === MAX_REFUSALS) {
        return errorResponse(error, response.headers);
      }
      dialect.refused.add(refused);
      const url = String(input instanceof Request ? input.url : input);
      sent = { ...init, body: JSON.stringify(mendParameters(request, url, api, dialect)) };
    }
  };
}

async function mendAnswer(
  response: Response,
  type: string,
  request: JsonObject,
  api: Api,
  dialect: Dialect,
): Promise<Response> {
  const isStreamed = request.stream === true;
  if (isStreamed && response.body !== null) {
    if (!/json|html/.test(type) || (await beginsAsEvents(response.clone()))) return response;
  }
  const text = await response.text();
  const body = parseJson(text);
  const error = wireErrorOf(body);
  if (error !== undefined) return errorResponse(error, response.headers);
  if (!isObject(body)) throw notAnAnswer(text);
  const exchange = startExchange(request, dialect);
  const mended = api === 'responses' ? mendResponse(body, exchange) : mendChatCompletion(body, exchange);
  const headers = headersOf(response.headers);
  if (!isStreamed) return new Response(JSON.stringify(mended), { headers });
  return new AnswerAsEvents(
    api === 'responses' ? responseAsEvents(mended) : chatCompletionAsEvents(mended),
    headers,
  );
}

/** The same response, whose body ends in an error where it goes on for too long. */
function atMost(maxBytes: number, response: Response): Response {
  if (response.body === null) return response;
  let received = 0;
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(bytes, controller) {
      received += bytes.length;
      if (received > maxBytes) controller.error(endlessAnswer(maxBytes));
      else controller.enqueue(bytes);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(counted), { status, statusText, headers });
}

/** Whether a body is a stream of events, whatever its type says: neither JSON nor a web page begins like one. */
async function beginsAsEvents({ body }: Response): Promise<boolean> {
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  if (reader === undefined) return false;
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      if (read.value.trim() !== '') return !/^\s*[[{<"]/.test(read.value);
    }
    return false;
  } finally {
    // The other copy of the body is still to be read, so this ends only with it.
    reader.cancel().catch(() => undefined);
  }
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
  return new Response(JSON.stringify({ error }), { status, headers: headersOf(headers) });
}

/** Those of the service, apart from what described the body as it was sent. */
function headersOf(headers: Headers): Headers {
  const kept = new Headers(headers);
  kept.delete('content-length');
  kept.delete('content-encoding');
  kept.set('content-type', 'application/json');
  return kept;
}

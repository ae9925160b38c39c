import { AsyncLocalStorage } from 'node:async_hooks';
import type { Model, ModelRequest, ModelResponse, StreamEvent } from '@openai/agents-core';
import { messageOf } from '../faults/app-error.ts';
import { getField } from '../faults/network-errors.ts';

const MODEL_URL = 'http://model.invalid/own-model';

/** The call of a model object that a request stands for. */
interface ModelCall {
  model: Model;
  request: ModelRequest;
  isStreamed: boolean;
}

type Fetch = typeof globalThis.fetch;

const currentCall = new AsyncLocalStorage<ModelCall | undefined>();

/** A model object whose calls pass through the global `fetch`, where a tape records or replays them. */
export function createTapedModel(model: Model): Model {
  const send = async (request: ModelRequest, isStreamed: boolean) => {
    const response = await currentCall.run({ model, request, isStreamed }, () =>
      fetch(`${MODEL_URL}/${isStreamed ? 'stream' : 'response'}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: toRequestBody(request),
        ...(request.signal && { signal: request.signal }),
      }),
    );
    if (!response.ok) throw fromErrorBody(await response.json());
    return response;
  };
  return {
    getResponse: async (request) => (await (await send(request, false)).json()) as ModelResponse,
    async *getStreamedResponse(request) {
      const { body } = await send(request, true);
      for await (const line of readLines(body ?? new ReadableStream())) {
        const event = JSON.parse(line) as StreamEvent | { type: 'error'; error: unknown };
        if (event.type === 'error') throw fromErrorBody(event);
        yield event as StreamEvent;
      }
    },
  };
}

/** A `fetch` that answers the requests of taped models by calling them. Requests that a model makes are sent. */
export function createModelFetch(fetch: Fetch): Fetch {
  return async (...args) => {
    const call = currentCall.getStore();
    return call === undefined ? fetch(...args) : currentCall.run(undefined, () => answerCall(call));
  };
}

async function answerCall({ model, request, isStreamed }: ModelCall): Promise<Response> {
  try {
    if (!isStreamed) return Response.json(await model.getResponse(request));
  } catch (error) {
    return Response.json(toErrorBody(error), { status: 500 });
  }
  const events = model.getStreamedResponse(request)[Symbol.asyncIterator]();
  const toLine = (value: unknown) => new TextEncoder().encode(`${JSON.stringify(value)}\n`);
  const body = new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await currentCall.run(undefined, () => events.next());
        if (done) controller.close();
        else controller.enqueue(toLine(value));
      } catch (error) {
        controller.enqueue(toLine({ type: 'error', ...toErrorBody(error) }));
        controller.close();
      }
    },
    cancel: async () => void (await events.return?.()),
  });
  return new Response(body, { headers: { 'content-type': 'application/x-ndjson' } });
}

/** What determines an answer, without ids that differ between equal runs. */
function toRequestBody({ signal: _, tracing: __, ...request }: ModelRequest): string {
  return JSON.stringify(request, (name, value: unknown) => {
    if (name === 'id' || name === 'providerData') return undefined;
    const callId = getField(value, 'callId');
    return callId === undefined ? value : { ...(value as object), callId: undefined, call_id: callId };
  });
}

function toErrorBody(error: unknown) {
  const [status, code] = [getField(error, 'status'), getField(error, 'code')];
  return { error: { message: messageOf(error), status, code, name: getField(error, 'name') } };
}

function fromErrorBody(body: unknown): Error {
  const { message, ...fields } = getField(body, 'error') as { message: string };
  return Object.assign(new Error(message), fields);
}

async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of body) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines.filter((line) => line !== '');
  }
  if (rest !== '') yield rest;
}

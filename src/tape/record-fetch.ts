import type { TapeChunk, TapeExchange, TapeFailure, TapeResponse } from './tape-format.ts';
import { toTapeBody, toTapeFailure, toTapeRequest } from './tape-http.ts';

type Fetch = typeof globalThis.fetch;

const STREAM_TYPE = /^(?:text\/event-stream|application\/(?:x-)?(?:ndjson|jsonl|stream\+json))\b/i;
const STATUS_WITHOUT_BODY = new Set([101, 204, 205, 304]);

export interface FetchRecorder {
  fetch: Fetch;
  /** Numbers an exchange that was not made with `fetch`. */
  nextId(): number;
  /** Reports the exchanges that have not ended as aborted. */
  settle(): void;
}

/** Wraps a `fetch` and reports every exchange when its answer has ended. The caller sees the same responses and errors. */
export function createFetchRecorder(
  fetch: Fetch,
  onExchange: (exchange: TapeExchange) => void,
): FetchRecorder {
  let ids = 0;
  const began = performance.now();
  const unfinished = new Set<() => void>();

  async function recordedFetch(...args: Parameters<Fetch>): Promise<Response> {
    const startedAt = performance.now();
    const sent = new Request(...args);
    const id = nextId();
    let response: TapeResponse | undefined;
    const request = await toTapeRequest(sent.clone());

    function finish(failure?: TapeFailure): void {
      if (!unfinished.delete(abort)) return;
      onExchange({
        id,
        startedAtMs: roundMs(startedAt - began),
        durationMs: roundMs(performance.now() - startedAt),
        request,
        ...(response && { response }),
        ...(failure && { failure }),
      });
    }
    const abort = () => finish({ name: 'AbortError', message: 'The response was not read to its end.' });
    unfinished.add(abort);

    try {
      const answer = await fetch(sent);
      const recorder = createResponseRecorder(answer);
      response = recorder.response;
      if (answer.body === null || STATUS_WITHOUT_BODY.has(answer.status)) {
        finish();
        return answer;
      }
      return withBody(answer, observeBody(answer.body, recorder, finish));
    } catch (error) {
      finish(toTapeFailure(error));
      throw error;
    }
  }

  function nextId(): number {
    ids += 1;
    return ids;
  }

  return {
    fetch: recordedFetch,
    nextId,
    settle() {
      for (const abort of [...unfinished]) abort();
    },
  };
}

interface ResponseRecorder {
  response: TapeResponse;
  addBytes(bytes: Uint8Array): void;
  /** Sets the body, or the chunks of a stream, on `response`. */
  end(): void;
}

function createResponseRecorder(answer: Response): ResponseRecorder {
  const type = answer.headers.get('content-type');
  const response: TapeResponse = { status: answer.status, headers: Object.fromEntries(answer.headers) };
  const pieces: { delayMs: number; bytes: Uint8Array }[] = [];
  let last = performance.now();
  return {
    response,
    addBytes(bytes) {
      const now = performance.now();
      pieces.push({ delayMs: roundMs(now - last), bytes: Uint8Array.from(bytes) });
      last = now;
    },
    end() {
      const chunks = STREAM_TYPE.test(type ?? '') ? toChunks(pieces) : null;
      const body = toTapeBody(Buffer.concat(pieces.map(({ bytes }) => bytes)), type);
      if (chunks !== null) response.chunks = chunks;
      else if (body !== undefined) response.body = body;
    },
  };
}

/** Null if the bytes are not text. A character that is split between two pieces belongs to the later one. */
function toChunks(pieces: readonly { delayMs: number; bytes: Uint8Array }[]): TapeChunk[] | null {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  try {
    const chunks = pieces.map(({ delayMs, bytes }) => ({
      delayMs,
      data: decoder.decode(bytes, { stream: true }),
    }));
    decoder.decode();
    return chunks;
  } catch {
    return null;
  }
}

function observeBody(
  body: ReadableStream<Uint8Array>,
  recorder: ResponseRecorder,
  finish: (failure?: TapeFailure) => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const end = (failure?: TapeFailure) => {
    recorder.end();
    finish(failure);
  };
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) {
          end();
          controller.close();
          return;
        }
        recorder.addBytes(value);
        controller.enqueue(value);
      } catch (error) {
        end(toTapeFailure(error));
        controller.error(error);
      }
    },
    async cancel(reason) {
      // The caller has read what it needs, such as all events up to the last.
      end();
      await reader.cancel(reason);
    },
  });
}

function withBody(answer: Response, body: ReadableStream<Uint8Array>): Response {
  const { status, statusText, headers, url, redirected } = answer;
  const response = new Response(body, { status, statusText, headers });
  return Object.defineProperties(response, { url: { value: url }, redirected: { value: redirected } });
}

function roundMs(milliseconds: number): number {
  return Math.max(0, Math.round(milliseconds * 10) / 10);
}

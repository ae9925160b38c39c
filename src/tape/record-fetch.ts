import type { TapeChunk, TapeExchange, TapeFailure, TapeResponse } from './tape-format.ts';
import { toTapeBody, toTapeFailure, toTapeRequest } from './tape-http.ts';

type Fetch = typeof globalThis.fetch;

const STREAM_TYPE = /^(?:text\/event-stream|application\/(?:x-)?(?:ndjson|jsonl|stream\+json))\b/i;
const STATUS_WITHOUT_BODY = new Set([101, 204, 205, 304]);

/** Wraps a `fetch` and reports every exchange when its answer has ended. The caller sees the same responses and errors. */
export function createFetchRecorder(fetch: Fetch, onExchange: (exchange: TapeExchange) => void) {
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
      const recorded: TapeResponse = { status: answer.status, headers: Object.fromEntries(answer.headers) };
      response = recorded;
      if (answer.body === null || STATUS_WITHOUT_BODY.has(answer.status)) {
        finish();
        return answer;
      }
      return withBody(answer, observeBody(answer.body, recorded, finish));
    } catch (error) {
      finish(toTapeFailure(error));
      throw error;
    }
  }

  /** Also numbers an exchange that was not made with `fetch`. */
  function nextId(): number {
    ids += 1;
    return ids;
  }

  return {
    fetch: recordedFetch,
    nextId,
    /** Reports the exchanges that have not ended as aborted. */
    settle() {
      for (const abort of [...unfinished]) abort();
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

/** Sets the body, or the chunks of a stream, on `response` when the returned stream ends. */
function observeBody(
  body: ReadableStream<Uint8Array>,
  response: TapeResponse,
  finish: (failure?: TapeFailure) => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const pieces: { delayMs: number; bytes: Uint8Array }[] = [];
  let last = performance.now();
  const end = (failure?: TapeFailure) => {
    const type = response.headers['content-type'] ?? null;
    const chunks = STREAM_TYPE.test(type ?? '') ? toChunks(pieces) : null;
    if (chunks === null) response.body = toTapeBody(Buffer.concat(pieces.map(({ bytes }) => bytes)), type);
    else response.chunks = chunks;
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
        const now = performance.now();
        pieces.push({ delayMs: roundMs(now - last), bytes: Uint8Array.from(value) });
        last = now;
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

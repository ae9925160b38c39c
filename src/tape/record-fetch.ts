import { type Fetch, tapeBody, tapeFailure, tapeRequest } from './tape-exchange.ts';
import type { TapeChunk, TapeExchange, TapeFailure, TapeResponse } from './tape-format.ts';

/** Answers that come event by event. */
const STREAMED = /^(?:text\/event-stream|application\/(?:x-)?(?:ndjson|jsonl|stream\+json))\b/i;
const BODILESS = new Set([101, 204, 205, 304]);

export interface RecordedFetch {
  fetch: Fetch;
  /** The same around another service, on the same tape. */
  over(service: Fetch): Fetch;
  /** Hands over what is still under way, as far as it came. */
  settle(): void;
}

interface RecordOptions {
  /** The number of the next request, from 1. */
  nextId: () => number;
  onExchange(exchange: TapeExchange): void;
}

/** A fetch that hands over every exchange once its answer has ended. What its caller sees is the same as without. */
export function recordFetch(fetch: Fetch, { nextId, onExchange }: RecordOptions): RecordedFetch {
  const lanes = new Set<number>();
  const began = performance.now();
  const open = new Set<() => void>();

  async function recorded(service: Fetch, ...args: Parameters<Fetch>): Promise<Response> {
    const startedAt = performance.now();
    const id = nextId();
    const lane = takeLane(lanes);
    let response: TapeResponse | undefined;
    const { request, call } = await tapeRequest(...args).catch((error: unknown) => {
      lanes.delete(lane);
      throw error;
    });

    function finish(failure?: TapeFailure): void {
      if (!open.delete(unread)) return;
      lanes.delete(lane);
      onExchange({
        id,
        startedAtMs: rounded(startedAt - began),
        durationMs: rounded(performance.now() - startedAt),
        lane,
        request,
        ...(response && { response }),
        ...(failure && { failure }),
      });
    }
    const unread = () => finish({ name: 'AbortError', message: 'The answer was not read to its end.' });
    open.add(unread);

    try {
      const answer = await service(...call);
      const taken = startResponse(answer);
      response = taken.response;
      if (answer.body === null || BODILESS.has(answer.status)) {
        finish();
        return answer;
      }
      return withBody(answer, observed(answer.body, taken, finish));
    } catch (error) {
      finish(tapeFailure(error));
      throw error;
    }
  }

  const over =
    (service: Fetch): Fetch =>
    (...args) =>
      recorded(service, ...args);
  return {
    fetch: over(fetch),
    over,
    settle() {
      for (const unread of [...open]) unread();
    },
  };
}

interface TakenResponse {
  response: TapeResponse;
  take(bytes: Uint8Array): void;
  end(): void;
}

function startResponse(answer: Response): TakenResponse {
  const type = answer.headers.get('content-type');
  const response: TapeResponse = { status: answer.status, headers: Object.fromEntries(answer.headers) };
  const pieces: { delayMs: number; bytes: Uint8Array }[] = [];
  let last = performance.now();
  return {
    response,
    take(bytes) {
      const now = performance.now();
      pieces.push({ delayMs: rounded(now - last), bytes: Uint8Array.from(bytes) });
      last = now;
    },
    end() {
      const chunks = STREAMED.test(type ?? '') ? asChunks(pieces) : null;
      const body = tapeBody(Buffer.concat(pieces.map(({ bytes }) => bytes)), type);
      if (chunks !== null) response.chunks = chunks;
      else if (body !== undefined) response.body = body;
    },
  };
}

/** Null if they are no text. A character that was cut in two belongs to the later piece. */
function asChunks(pieces: readonly { delayMs: number; bytes: Uint8Array }[]): TapeChunk[] | null {
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

function observed(
  body: ReadableStream<Uint8Array>,
  taken: TakenResponse,
  finish: (failure?: TapeFailure) => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const end = (failure?: TapeFailure) => {
    taken.end();
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
        taken.take(value);
        controller.enqueue(value);
      } catch (error) {
        end(tapeFailure(error));
        controller.error(error);
      }
    },
    async cancel(reason) {
      // The caller has what it wanted, such as all events up to the last.
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

/** The lowest that is free. */
function takeLane(lanes: Set<number>): number {
  let lane = 0;
  while (lanes.has(lane)) lane += 1;
  lanes.add(lane);
  return lane;
}

function rounded(milliseconds: number): number {
  return Math.max(0, Math.round(milliseconds * 10) / 10);
}

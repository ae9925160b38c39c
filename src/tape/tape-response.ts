import { setTimeout as delay } from 'node:timers/promises';
import { bodyBytes } from './tape-body.ts';
import { errorOf } from './tape-failure.ts';
import type { TapeExchange, TapeResponse } from './tape-format.ts';

export type Timing = 'none' | 'recorded';

/** The answer of an exchange as `fetch` gave it. Throws the error that it threw if there was none. */
export async function replayResponse(
  { response, failure, durationMs }: TapeExchange,
  timing: Timing,
  signal: AbortSignal | null,
): Promise<Response> {
  const streamedMs = (response?.chunks ?? []).reduce((sum, { delayMs }) => sum + delayMs, 0);
  const wait = async (ms: number) => {
    if (timing === 'recorded' && ms > 0) await delay(ms, undefined, { ...(signal && { signal }) });
  };
  await wait(durationMs - streamedMs).catch(() => signal?.throwIfAborted());
  signal?.throwIfAborted();
  if (response === undefined) throw errorOf(failure ?? { name: 'TypeError', message: 'fetch failed' });
  const { status, headers } = response;
  return new Response(bodyOf(response, failure, wait), { status, headers });
}

function bodyOf(
  { body, chunks }: TapeResponse,
  failure: TapeExchange['failure'],
  wait: (ms: number) => Promise<void>,
): string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null {
  if (chunks === undefined && failure === undefined) {
    if (body === undefined) return null;
    const bytes = bodyBytes(body);
    return typeof bytes === 'string' ? bytes : Uint8Array.from(bytes);
  }
  const whole = body === undefined ? [] : [{ delayMs: 0, data: bodyBytes(body) }];
  const pieces: { delayMs: number; data: string | Buffer }[] = chunks ?? whole;
  let next = 0;
  return new ReadableStream({
    async pull(controller) {
      const piece = pieces[next];
      next += 1;
      if (piece !== undefined) {
        await wait(piece.delayMs);
        controller.enqueue(Buffer.from(piece.data as string));
      } else if (failure === undefined) controller.close();
      else controller.error(errorOf(failure));
    },
  });
}

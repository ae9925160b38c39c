import { recordFetch } from './record-fetch.ts';
import type { TapeExchange } from './tape-format.ts';

/**
 * From here on every call of `fetch` in this process is handed over once it has ended, until the function it gives back
 * is called. `fetch` is wrapped rather than the socket: this is where answers are no longer compressed, where
 * each chunk is seen when the program sees it, and where a caller's own dispatcher still counts.
 */
export function startRecording(onExchange: (exchange: TapeExchange) => void): () => void {
  const before = globalThis.fetch;
  let ids = 0;
  const recorded = recordFetch(before, {
    elapsedMs: () => performance.now(),
    nextId: () => {
      ids += 1;
      return ids;
    },
    onExchange,
  });
  globalThis.fetch = recorded.fetch;
  return () => {
    globalThis.fetch = before;
    recorded.settle();
  };
}

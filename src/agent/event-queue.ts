/** Joins events of several makers into one stream. */
export interface EventQueue<T> {
  push(event: T): void;
  /** No more events. With an error, reading ends by throwing it. */
  end(error?: unknown): void;
  events(): AsyncGenerator<T, void, undefined>;
}

export function createEventQueue<T>(): EventQueue<T> {
  const waiting: T[] = [];
  let ended = false;
  let failure: unknown;
  let wake = () => {};
  return {
    push(event) {
      waiting.push(event);
      wake();
    },
    end(error) {
      ended = true;
      failure = error;
      wake();
    },
    async *events() {
      for (;;) {
        yield* waiting.splice(0);
        if (waiting.length > 0) continue;
        if (ended) break;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      if (failure !== undefined) throw failure;
    },
  };
}

/** A queue of events for one reader. */
interface EventQueue<T> {
  push(event: T): void;
  /** Ends the queue; with an error, the reader gets it after the last event. */
  end(error?: unknown): void;
  /** The next event, synchronously if there is one; undefined after the last. */
  next(): T | undefined | Promise<T | undefined>;
}

export function createEventQueue<T extends object>(): EventQueue<T> {
  const waiting: T[] = [];
  let ended = false;
  let failure: unknown;
  let wake = () => {};

  async function waitForNext(): Promise<T | undefined> {
    while (waiting.length === 0 && !ended) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    const event = waiting.shift();
    if (event === undefined && failure !== undefined) throw failure;
    return event;
  }

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
    next: () => waiting.shift() ?? waitForNext(),
  };
}

/** Yields the events of a queue until it ends. */
export async function* readEvents<T extends object>(
  queue: Pick<EventQueue<T>, 'next'>,
): AsyncGenerator<T, void, undefined> {
  for (let event = await queue.next(); event !== undefined; event = await queue.next()) yield event;
}

/**
 * Yields the events that `work` emits. The work starts with the first read, does not wait for the reader, and is awaited
 * at the end; its error is thrown after the last event. A reader that stops early aborts the signal.
 */
export async function* streamWorkEvents<T extends object>(
  work: (emit: (event: T) => void, stopped: AbortSignal) => Promise<void>,
): AsyncGenerator<T, void, undefined> {
  const queue = createEventQueue<T>();
  const stop = new AbortController();
  const ended = work(queue.push, stop.signal).then(
    () => queue.end(),
    (error: unknown) => queue.end(error),
  );
  try {
    for (let event = await queue.next(); event !== undefined; event = await queue.next()) yield event;
  } finally {
    stop.abort();
    await ended;
  }
}

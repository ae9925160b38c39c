/** Joins events of several makers into one stream. */
interface EventQueue<T> {
  push(event: T): void;
  /** No more events. With an error, reading ends by throwing it. */
  end(error?: unknown): void;
  /** The next event, at once if it is there; undefined after the last one. For one reader. */
  next(): T | undefined | Promise<T | undefined>;
}

export function createEventQueue<T extends object>(): EventQueue<T> {
  const waiting: T[] = [];
  let ended = false;
  let failure: unknown;
  let wake = () => {};

  async function nextOnceThere(): Promise<T | undefined> {
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
    next: () => waiting.shift() ?? nextOnceThere(),
  };
}

/** What is in a queue, and what comes to it, until it ends. */
export async function* eventsOf<T extends object>(
  queue: Pick<EventQueue<T>, 'next'>,
): AsyncGenerator<T, void, undefined> {
  for (let event = await queue.next(); event !== undefined; event = await queue.next()) yield event;
}

/**
 * What some work emits, for one reader. It begins with the first read, goes on whether or not it is read, and is waited
 * for at the end; what it throws, the reader gets after the last event.
 */
export async function* eventsDuring<T extends object>(
  work: (emit: (event: T) => void) => Promise<void>,
): AsyncGenerator<T, void, undefined> {
  const queue = createEventQueue<T>();
  const ended = work(queue.push).then(
    () => queue.end(),
    (error: unknown) => queue.end(error),
  );
  try {
    for (let event = await queue.next(); event !== undefined; event = await queue.next()) yield event;
  } finally {
    await ended;
  }
}

interface GateLimits {
  concurrent: number;
  /** The length of the queue; unlimited by default. */
  waiting?: number;
  /** Creates the error for a full queue; `seconds` is the estimated wait. */
  whenFull?: (seconds: number) => Error;
}

/** Limits concurrency, first come, first served. */
export interface ConcurrencyGate {
  readonly running: number;
  readonly waiting: number;
  /** Enters if a slot is free; returns a function that releases it and may be called repeatedly. */
  tryEnter(): (() => void) | undefined;
  /**
   * Waits for a slot. Throws if the queue is full, and the signal's reason if it is aborted before. `onWait` gets the number
   * of those ahead.
   */
  enter(signal?: AbortSignal, onWait?: (ahead: number) => void): Promise<() => void>;
  run<T>(task: () => Promise<T>): Promise<T>;
}

/** The weight of the latest duration in the moving average. */
const SMOOTHING_FACTOR = 0.2;

export function createConcurrencyGate({
  concurrent,
  waiting: maxWaiting = Number.POSITIVE_INFINITY,
  whenFull = () => new Error('Too many are waiting.'),
}: GateLimits): ConcurrencyGate {
  const queue = new Set<() => void>();
  let running = 0;
  let averageSeconds = 1;

  function take(): () => void {
    running += 1;
    const started = performance.now();
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      running -= 1;
      averageSeconds += SMOOTHING_FACTOR * ((performance.now() - started) / 1000 - averageSeconds);
      const [next] = queue;
      next?.();
    };
  }

  const tryEnter = () => (running < concurrent && queue.size === 0 ? take() : undefined);

  async function enter(signal?: AbortSignal, onWait?: (ahead: number) => void): Promise<() => void> {
    signal?.throwIfAborted();
    const release = tryEnter();
    if (release !== undefined) return release;
    if (queue.size >= maxWaiting) {
      throw whenFull(Math.max(1, Math.ceil((averageSeconds * (queue.size + 1)) / concurrent)));
    }
    onWait?.(queue.size);
    return new Promise((resolve, reject) => {
      const leave = () => {
        queue.delete(proceed);
        signal?.removeEventListener('abort', giveUp);
      };
      const proceed = () => {
        leave();
        resolve(take());
      };
      const giveUp = () => {
        leave();
        reject(signal?.reason);
      };
      queue.add(proceed);
      signal?.addEventListener('abort', giveUp);
    });
  }

  return {
    get running() {
      return running;
    },
    get waiting() {
      return queue.size;
    },
    tryEnter,
    enter,
    async run(task) {
      const leave = await enter();
      try {
        return await task();
      } finally {
        leave();
      }
    },
  };
}

/** One holder at a time per key. Unused keys take no memory. */
export interface KeyedLock {
  /** Takes a free key; returns a function that releases it and may be called repeatedly. */
  tryTake(key: string): (() => void) | undefined;
  /** Runs work for the same key one after the other, in order. */
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
}

export function createKeyedLock(): KeyedLock {
  const gates = new Map<string, ConcurrencyGate>();

  function gateOf(key: string): ConcurrencyGate {
    const known = gates.get(key);
    if (known !== undefined) return known;
    const gate = createConcurrencyGate({ concurrent: 1 });
    gates.set(key, gate);
    return gate;
  }

  function forgetIfFree(key: string): void {
    const gate = gates.get(key);
    if (gate?.running === 0 && gate.waiting === 0) gates.delete(key);
  }

  return {
    tryTake(key) {
      const release = gateOf(key).tryEnter();
      return (
        release &&
        (() => {
          release();
          forgetIfFree(key);
        })
      );
    },
    async run(key, work) {
      try {
        return await gateOf(key).run(work);
      } finally {
        forgetIfFree(key);
      }
    },
  };
}

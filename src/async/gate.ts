interface GateLimits {
  /** So many are let in at a time. */
  concurrent: number;
  /** So many may wait for their place; any number unless given. */
  waiting?: number;
  /** What is thrown at who would be one too many to wait, with the seconds after which there may be a place. */
  whenFull?: (seconds: number) => Error;
}

/** Lets so many in at a time, first come, first served. */
export interface Gate {
  readonly running: number;
  readonly waiting: number;
  /** A place if there is one now. It is given back by calling it, once or more often. */
  tryEnter(): (() => void) | undefined;
  /**
   * A place as soon as there is one. Throws at once when too many wait already, and the signal's reason when that is
   * raised before there is a place. `onWait` hears how many are ahead.
   */
  enter(signal?: AbortSignal, onWait?: (ahead: number) => void): Promise<() => void>;
  /** Runs a task in a place. */
  run<T>(task: () => Promise<T>): Promise<T>;
}

/** How much the last one counts in the average of how long places were held. */
const WEIGHT = 0.2;

export function createGate({
  concurrent,
  waiting: maxWaiting = Number.POSITIVE_INFINITY,
  whenFull = () => new Error('Too many are waiting.'),
}: GateLimits): Gate {
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
      averageSeconds += WEIGHT * ((performance.now() - started) / 1000 - averageSeconds);
      const [next] = queue;
      next?.();
    };
  }

  const tryEnter = () => (running < concurrent && queue.size === 0 ? take() : undefined);

  async function enter(signal?: AbortSignal, onWait?: (ahead: number) => void): Promise<() => void> {
    signal?.throwIfAborted();
    const place = tryEnter();
    if (place !== undefined) return place;
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

/** One at a time for each key: a session, a document. Keys that nobody holds or waits for take up no room. */
export interface KeyedLock {
  /** The key if nobody has it now. It is given back by calling it, once or more often. */
  tryTake(key: string): (() => void) | undefined;
  /** Runs work for the same key in the order in which it came. */
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
}

export function createKeyedLock(): KeyedLock {
  const gates = new Map<string, Gate>();

  function gateOf(key: string): Gate {
    const known = gates.get(key);
    if (known !== undefined) return known;
    const gate = createGate({ concurrent: 1 });
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

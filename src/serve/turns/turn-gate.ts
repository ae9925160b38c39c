import { RequestFault } from '../wire/request-fault.ts';

export interface GateLimits {
  /** Turns that run at the same time. */
  concurrent: number;
  /** Turns that may wait for their place; more are refused. */
  waiting: number;
}

/** Lets so many turns run at a time and so many wait, first come, first served. */
export interface TurnGate {
  readonly running: number;
  readonly waiting: number;
  /**
   * A place, to be given back once. Throws a 429 at once when too many wait already, and the signal's reason
   * when that is raised before there is a place. `onWait` hears how many are ahead.
   */
  enter(signal: AbortSignal, onWait: (ahead: number) => void): Promise<() => void>;
}

/** How much the last turn counts in the average of their durations. */
const WEIGHT = 0.2;

export function createTurnGate({ concurrent, waiting: maxWaiting }: GateLimits): TurnGate {
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

  return {
    get running() {
      return running;
    },
    get waiting() {
      return queue.size;
    },
    async enter(signal, onWait) {
      signal.throwIfAborted();
      if (running < concurrent && queue.size === 0) return take();
      if (queue.size >= maxWaiting) {
        const retryAfter = Math.max(1, Math.ceil((averageSeconds * (queue.size + 1)) / concurrent));
        throw new RequestFault(429, 'Too many questions are waiting to be answered.', {
          code: 'queue_full',
          retryAfter,
        });
      }
      onWait(queue.size);
      return new Promise((resolve, reject) => {
        const leave = () => {
          queue.delete(proceed);
          signal.removeEventListener('abort', giveUp);
        };
        const proceed = () => {
          leave();
          resolve(take());
        };
        const giveUp = () => {
          leave();
          reject(signal.reason);
        };
        queue.add(proceed);
        signal.addEventListener('abort', giveUp);
      });
    },
  };
}

/** Clock, ids and randomness of a run, so that a replay can repeat them. */
export interface Runtime {
  now(): Date;
  /** Milliseconds since an arbitrary moment. */
  elapsedMs(): number;
  /** A UUID, version 4. */
  newId(): string;
  /** False under a replay, where no request reaches a service. */
  needsKeys?: boolean;
  /** In 0..1, for the jitter of waits. Default: `Math.random`. */
  random?(): number;
  /** Waits before a retry; rejects when the signal is aborted. Default: a timer. */
  sleep?(ms: number, signal: AbortSignal | undefined): Promise<unknown>;
}

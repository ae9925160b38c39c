/** Clock and ids: one place, so that a run can be made the same again. */
export interface Runtime {
  now(): Date;
  /** Milliseconds since some moment; only differences mean anything. */
  elapsedMs(): number;
  /** A UUID, version 4. */
  newId(): string;
  /** False under a replay, where no request reaches a service. */
  needsKeys?: boolean;
  /** In 0..1, for waits that should not all end at once; of the machine where it is left out. */
  random?(): number;
  /** Waits before another attempt; rejects when the signal is raised. Of the machine where it is left out. */
  sleep?(ms: number, signal: AbortSignal | undefined): Promise<unknown>;
}

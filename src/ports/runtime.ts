/** Clock and ids: one place, so that a run can be made the same again. */
export interface Runtime {
  now(): Date;
  /** Milliseconds since some moment; only differences mean anything. */
  elapsedMs(): number;
  /** A UUID, version 4. */
  newId(): string;
}

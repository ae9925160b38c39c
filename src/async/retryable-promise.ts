/** A value that is opened on first use and kept. A failure is not kept: the next use tries again. */
export interface RetryablePromise<Args extends unknown[], T> {
  /** Opens the value on the first call; the arguments of later calls are ignored. */
  get(...args: Args): Promise<T>;
  /** The opened value; undefined if it was never opened or failed. */
  current(): Promise<T | undefined>;
  /** Whether it is open or being opened. */
  readonly inUse: boolean;
}

export function createRetryablePromise<Args extends unknown[], T>(
  open: (...args: Args) => Promise<T>,
): RetryablePromise<Args, T> {
  let opening: Promise<T> | undefined;
  return {
    get(...args) {
      if (opening !== undefined) return opening;
      const attempt = open(...args);
      opening = attempt;
      attempt.catch(() => {
        opening = undefined;
      });
      return attempt;
    },
    current: async () => opening?.catch(() => undefined),
    get inUse() {
      return opening !== undefined;
    },
  };
}

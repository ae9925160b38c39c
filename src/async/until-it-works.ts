/** Something that is opened on first use and kept. */
export interface UntilItWorks<Args extends unknown[], T> {
  /** Who asks first says how it is opened. A failure is forgotten, so that the next use tries again. */
  get(...args: Args): Promise<T>;
  /** What was opened, if anything was. */
  got(): Promise<T | undefined>;
  /** Whether it is open, or being opened. */
  readonly inUse: boolean;
}

export function untilItWorks<Args extends unknown[], T>(
  open: (...args: Args) => Promise<T>,
): UntilItWorks<Args, T> {
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
    got: async () => opening?.catch(() => undefined),
    get inUse() {
      return opening !== undefined;
    },
  };
}

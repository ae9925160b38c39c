interface MemoizeOptions {
  /** At least this many results are kept, and at most twice as many. */
  size: number;
  /** Results of inputs with a longer key are not kept. */
  longestKey?: number;
}

/** A function that keeps the results of recent inputs. */
export function memoize<T extends NonNullable<unknown>>(
  options: MemoizeOptions,
  compute: (input: string) => T,
): (input: string) => T {
  return memoizeBy(options, (input) => input, compute);
}

/** Like `memoize`, for inputs that `keyOf` identifies. */
export function memoizeBy<Input, T extends NonNullable<unknown>>(
  { size, longestKey = Number.POSITIVE_INFINITY }: MemoizeOptions,
  keyOf: (input: Input) => string,
  compute: (input: Input) => T,
): (input: Input) => T {
  let recent = new Map<string, T>();
  let earlier = new Map<string, T>();
  return (input) => {
    const key = keyOf(input);
    const known = recent.get(key);
    if (known !== undefined) return known;
    const value = earlier.get(key) ?? compute(input);
    if (key.length > longestKey) return value;
    if (recent.size >= size) {
      earlier = recent;
      recent = new Map();
    }
    recent.set(key, value);
    return value;
  };
}

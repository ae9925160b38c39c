interface Memory<Input> {
  /** The results of so many inputs are kept at least, and of twice as many at most. */
  most: number;
  /** What tells one input from another. */
  keyOf: (input: Input) => string;
  /** Inputs with a longer key are not kept. */
  longest?: number;
}

/**
 * A function that keeps its results. Passages are read again and again: by the search, the answer and its check, and
 * when the next turn finds them once more.
 */
export function remembering<Input, T extends NonNullable<unknown>>(
  { most, keyOf, longest = Number.POSITIVE_INFINITY }: Memory<Input>,
  make: (input: Input) => T,
): (input: Input) => T {
  let recent = new Map<string, T>();
  let earlier = new Map<string, T>();
  return (input) => {
    const key = keyOf(input);
    const known = recent.get(key);
    if (known !== undefined) return known;
    const value = earlier.get(key) ?? make(input);
    if (key.length > longest) return value;
    if (recent.size >= most) {
      earlier = recent;
      recent = new Map();
    }
    recent.set(key, value);
    return value;
  };
}

/** A text is told from another by itself. */
export function itself(text: string): string {
  return text;
}

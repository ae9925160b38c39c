/** The known name that was probably meant: the only one with this prefix, or the one with the fewest typing errors. */
export function findNearestName(name: string, known: readonly string[]): string | undefined {
  const typed = name.toLowerCase();
  const withPrefix = known.filter((candidate) => candidate.toLowerCase().startsWith(typed));
  if (typed.length >= 2 && withPrefix.length === 1) return withPrefix[0];
  let best: string | undefined;
  let fewest = mostErrors(typed) + 1;
  for (const candidate of known) {
    const errors = editDistance(typed, candidate.toLowerCase());
    if (errors < fewest) [best, fewest] = [candidate, errors];
  }
  return best;
}

/** One for short names, since two errors make almost any short name similar. */
function mostErrors(name: string): number {
  return name.length < 2 ? 0 : Math.max(1, Math.floor(name.length / 3));
}

/** Counts inserted, missing, replaced and swapped letters (Damerau-Levenshtein distance). */
function editDistance(from: string, to: string): number {
  const rows = [Array.from({ length: to.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= from.length; row += 1) {
    const [current, above, twoAbove] = [[row], rows[row - 1] ?? [], rows[row - 2]];
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = (above[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1);
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current.push(
        Math.min(
          replaced,
          (above[column] ?? 0) + 1,
          (current[column - 1] ?? 0) + 1,
          swapped && twoAbove !== undefined ? (twoAbove[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    rows.push(current);
  }
  return rows[from.length]?.[to.length] ?? 0;
}

/**
 * The known name that was probably meant: the only one that begins so, or the one that takes the fewest slips, if they
 * are few for its length.
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const typed = name.toLowerCase();
  const begun = known.filter((candidate) => candidate.toLowerCase().startsWith(typed));
  if (typed.length >= 2 && begun.length === 1) return begun[0];
  let best: string | undefined;
  let fewest = slipsAllowed(typed) + 1;
  for (const candidate of known) {
    const slips = slipsBetween(typed, candidate.toLowerCase());
    if (slips < fewest) [best, fewest] = [candidate, slips];
  }
  return best;
}

/** One in a short word: with two, almost any other is near. */
function slipsAllowed(name: string): number {
  return name.length < 2 ? 0 : Math.max(1, Math.floor(name.length / 3));
}

/** A letter too many, too few or another one, or two that changed places. */
function slipsBetween(from: string, to: string): number {
  const rows = [Array.from({ length: to.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= from.length; row += 1) {
    const [current, above, twoAbove] = [[row], rows[row - 1] ?? [], rows[row - 2]];
    for (let column = 1; column <= to.length; column += 1) {
      const another = (above[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1);
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current.push(
        Math.min(
          another,
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

/** The known name that takes the fewest edits, if there is one that a typing error explains. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  let best: string | undefined;
  let fewest = Math.max(2, Math.floor(name.length / 3)) + 1;
  for (const candidate of known) {
    const edits = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (edits < fewest) [best, fewest] = [candidate, edits];
  }
  return best;
}

function editDistance(from: string, to: string): number {
  let above = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const substitution = (above[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1);
      current.push(Math.min(substitution, (above[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    above = current;
  }
  return above[to.length] ?? 0;
}

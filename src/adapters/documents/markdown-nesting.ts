/** More constructs inside each other than any document means; the parser would take minutes, or the whole stack. */
const DEEPEST = 100;

/** Throws a RangeError for lists and quotes opened on one line, or admonitions opened and not closed, without end. */
export function refuseDeepNesting(source: string): void {
  const opened = new RegExp(
    `^[ \\t]*(?:(?:>|(?:[-+*]|\\d{1,9}[.)])[ \\t])[ \\t]*){${DEEPEST},}[^\\s>*+-]`,
    'm',
  );
  if (opened.test(source)) throw new RangeError(`A line opens more than ${DEEPEST} lists or quotes.`);

  let depth = 0;
  for (const [, name] of source.matchAll(/^[ \t>]*:{3,}[ \t]*([a-z].*)?$/gim)) {
    depth = name === undefined ? Math.max(0, depth - 1) : depth + 1;
    if (depth > DEEPEST) throw new RangeError(`More than ${DEEPEST} admonitions are open.`);
  }
}

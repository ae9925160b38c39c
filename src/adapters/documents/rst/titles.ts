import { isBlank, type Reader } from './reader.ts';

/** A line of one punctuation character, as it stands under titles and between sections. */
const ADORNMENT = /^([!-/:-@[-`{-~])\1+$/;

/** A title with a line under it, or above and under it. */
export const readTitle: Reader = (lines, index, context) => {
  const [first = '', second = '', third = ''] = lines.slice(index, index + 3).map((line) => line.trimEnd());
  if (
    isAdornment(first) &&
    !isBlank(second) &&
    third === first &&
    first.length >= Math.min(4, second.trim().length)
  ) {
    const depth = context.headingDepth(`${first.charAt(0)}${first.charAt(0)}`);
    return { nodes: [{ type: 'heading', depth, children: context.inline(second.trim()) }], next: index + 3 };
  }
  const isTitled = isAdornment(second) && !isAdornment(first) && !/^\s/.test(first);
  // One that is shorter than its title is likely a mistake, but one of two or three characters is likely none.
  if (!isTitled || second.length < Math.min(4, first.length)) return null;
  const depth = context.headingDepth(second.charAt(0));
  return { nodes: [{ type: 'heading', depth, children: context.inline(first) }], next: index + 2 };
};

/** A line that only parts what stands above and under it. */
export const readTransition: Reader = (lines, index) => {
  const line = lines[index]?.trimEnd() ?? '';
  const isTransition = isAdornment(line) && line.length >= 4 && isBlank(lines[index + 1]);
  return isTransition ? { nodes: [], next: index + 1 } : null;
};

function isAdornment(line: string): boolean {
  return ADORNMENT.test(line);
}

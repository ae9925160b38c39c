import type { BlockContent, DefinitionContent, Heading, PhrasingContent } from 'mdast';

export type Flow = BlockContent | DefinitionContent;

/** What a reader took from the lines: the nodes it made, and the line to go on with. */
export interface Read {
  nodes: Flow[];
  next: number;
}

/** Reads one construct that begins at `lines[index]`; null if none of its kind begins there. */
export type Reader = (lines: readonly string[], index: number, context: Context) => Read | null;

/** What readers share. */
export interface Context {
  /** Reads lines, free of their common indentation, as a body of their own. */
  body(lines: readonly string[]): Flow[];
  /** Reads inline markup. */
  inline(text: string): PhrasingContent[];
  /** The level of a title by its adornment: levels count in the order in which styles appear. */
  headingDepth(style: string): Heading['depth'];
}

export function isBlank(line: string | undefined): boolean {
  return line === undefined || line.trim() === '';
}

export function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

/** The lines from `index` on that are indented, with the blank ones between them but none at the end. */
export function takeIndented(lines: readonly string[], index: number): { block: string[]; next: number } {
  let end = index;
  for (let next = index; next < lines.length; next += 1) {
    const line = lines[next] ?? '';
    if (isBlank(line)) continue;
    if (indentOf(line) === 0) break;
    end = next + 1;
  }
  return { block: dedent(lines.slice(index, end)), next: end };
}

/** Takes away the indentation that all lines share. */
export function dedent(lines: readonly string[]): string[] {
  const shared = lines.reduce(
    (least, line) => (isBlank(line) ? least : Math.min(least, indentOf(line))),
    Infinity,
  );
  return lines.map((line) => (isBlank(line) ? '' : line.slice(shared)));
}

/** The first line at or after `index` that is not blank. */
export function skipBlank(lines: readonly string[], index: number): number {
  let next = index;
  while (next < lines.length && isBlank(lines[next])) next += 1;
  return next;
}

export function paragraph(children: PhrasingContent[]): Flow {
  return { type: 'paragraph', children };
}

export function code(value: string, lang: string | null = null): Flow {
  return { type: 'code', value, lang };
}

/** Lines with `| ` before them, which keep their line breaks. */
export const readLineBlock: Reader = (lines, index, context) => {
  let next = index;
  const children: PhrasingContent[] = [];
  for (; /^\|(\s|$)/.test(lines[next] ?? ''); next += 1) {
    children.push(...context.inline((lines[next] ?? '').slice(1)), { type: 'break' });
  }
  return next === index ? null : { nodes: [paragraph(children)], next };
};

/** A Python session, up to the next blank line. */
export const readDoctest: Reader = (lines, index) => {
  if (!/^>>>\s/.test(lines[index] ?? '')) return null;
  const end = endOfParagraph(lines, index);
  return { nodes: [code(lines.slice(index, end).join('\n'), 'python')], next: end };
};

/** Lines that are indented without more reason are a quote. */
export const readQuote: Reader = (lines, index, context) => {
  if (indentOf(lines[index] ?? '') === 0) return null;
  const { block, next } = takeIndented(lines, index);
  return { nodes: [{ type: 'blockquote', children: context.body(block) }], next };
};

/** A paragraph; after one that ends in `::` comes a literal block. */
export const readParagraph: Reader = (lines, index, context) => {
  const end = endOfParagraph(lines, index);
  const text = lines.slice(index, end).join('\n').trimEnd();
  if (!text.endsWith('::')) return { nodes: [paragraph(context.inline(text))], next: end };

  const { nodes, next } = readLiteral(lines, end);
  // "Text::" is shown as "Text:"; a "::" that stands alone is not shown.
  const shown = /(^|\s)::$/.test(text) ? text.slice(0, -2) : text.slice(0, -1);
  return { nodes: [paragraph(context.inline(nodes.length > 0 ? shown : text)), ...nodes], next };
};

/** A literal block is indented, or else each of its lines begins with the same punctuation. */
function readLiteral(lines: readonly string[], index: number): { nodes: Flow[]; next: number } {
  const start = skipBlank(lines, index);
  const first = lines[start] ?? '';
  if (indentOf(first) > 0) {
    const { block, next } = takeIndented(lines, start);
    return { nodes: [code(block.join('\n'))], next };
  }
  const quote = first.charAt(0);
  if (start === index || !/[!-/:-@[-`{-~]/.test(quote) || /^\.\.(\s|$)/.test(first))
    return { nodes: [], next: index };
  let next = start;
  while (lines[next]?.startsWith(quote)) next += 1;
  return { nodes: [code(dedent(lines.slice(start, next)).join('\n'))], next };
}

/** A paragraph ends before a blank line, and before a line that is indented more than its first. */
function endOfParagraph(lines: readonly string[], index: number): number {
  let end = index + 1;
  while (!isBlank(lines[end]) && indentOf(lines[end] ?? '') === 0) end += 1;
  return end;
}

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

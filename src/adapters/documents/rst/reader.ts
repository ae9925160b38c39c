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

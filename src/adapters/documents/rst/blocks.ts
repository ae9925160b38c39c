import type { BlockContent, DefinitionContent, Heading, PhrasingContent } from 'mdast';

export type FlowNode = BlockContent | DefinitionContent;

/** The nodes that a reader created, and the index of the next line. */
export interface RstReadResult {
  nodes: FlowNode[];
  next: number;
}

/** Reads a construct that starts at `lines[index]`; null if none of its kind starts there. */
export type RstReader = (
  lines: readonly string[],
  index: number,
  context: RstContext,
) => RstReadResult | null;

export interface RstContext {
  /** Parses dedented lines as a nested body. */
  body(lines: readonly string[]): FlowNode[];
  inline(text: string): PhrasingContent[];
  /** The lines of an included file; none if it is missing. */
  include?(path: string, selection: string): string[];
  /** The level of a title by its adornment; styles get levels in the order of their appearance. */
  headingDepth(style: string): Heading['depth'];
}

export function isBlankLine(line: string | undefined): boolean {
  return line === undefined || line.trim() === '';
}

export function indentWidth(line: string): number {
  return line.length - line.trimStart().length;
}

/** The indented lines from `index` on, dedented, with blank lines between them but not at the end. */
export function readIndentedLines(
  lines: readonly string[],
  index: number,
): { block: string[]; next: number } {
  let end = index;
  for (let next = index; next < lines.length; next += 1) {
    const line = lines[next] ?? '';
    if (isBlankLine(line)) continue;
    if (indentWidth(line) === 0) break;
    end = next + 1;
  }
  return { block: dedentLines(lines.slice(index, end)), next: end };
}

/** Without the indentation that all lines have, and without spaces at the ends. */
export function dedentLines(lines: readonly string[]): string[] {
  const indents = lines.filter((line) => !isBlankLine(line)).map((line) => line.slice(0, indentWidth(line)));
  let [shared = ''] = indents;
  for (const indent of indents) while (!indent.startsWith(shared)) shared = shared.slice(0, -1);
  return lines.map((line) => line.slice(shared.length).trimEnd());
}

/** The index of the first line from `index` on that is not blank. */
export function skipBlankLines(lines: readonly string[], index: number): number {
  let next = index;
  while (next < lines.length && isBlankLine(lines[next])) next += 1;
  return next;
}

export function createParagraph(children: PhrasingContent[]): FlowNode {
  return { type: 'paragraph', children };
}

export function createCodeBlock(value: string, lang: string | null = null): FlowNode {
  return { type: 'code', value, lang };
}

/** Lines that start with `| ` and keep their line breaks. */
export const readLineBlock: RstReader = (lines, index, context) => {
  let next = index;
  const children: PhrasingContent[] = [];
  for (; /^\|(\s|$)/.test(lines[next] ?? ''); next += 1) {
    children.push(...context.inline((lines[next] ?? '').slice(1)), { type: 'break' });
  }
  return next === index ? null : { nodes: [createParagraph(children)], next };
};

export const readDoctest: RstReader = (lines, index) => {
  if (!/^>>>\s/.test(lines[index] ?? '')) return null;
  const end = findParagraphEnd(lines, index);
  return { nodes: [createCodeBlock(lines.slice(index, end).join('\n'), 'python')], next: end };
};

export const readQuote: RstReader = (lines, index, context) => {
  if (indentWidth(lines[index] ?? '') === 0) return null;
  const { block, next } = readIndentedLines(lines, index);
  return { nodes: [{ type: 'blockquote', children: context.body(block) }], next };
};

/** A paragraph. If it ends in `::`, a literal block follows. */
export const readParagraph: RstReader = (lines, index, context) => {
  const end = findParagraphEnd(lines, index);
  const text = lines.slice(index, end).join('\n').trimEnd();
  if (!text.endsWith('::')) return { nodes: [createParagraph(context.inline(text))], next: end };

  const { nodes, next } = readLiteral(lines, end);
  // "Text::" is rendered as "Text:", and a separate "::" is dropped.
  const shown = /(^|\s)::$/.test(text) ? text.slice(0, -2) : text.slice(0, -1);
  return { nodes: [createParagraph(context.inline(nodes.length > 0 ? shown : text)), ...nodes], next };
};

/** A literal block is indented. */
function readLiteral(lines: readonly string[], index: number): RstReadResult {
  const start = skipBlankLines(lines, index);
  if (indentWidth(lines[start] ?? '') === 0) return { nodes: [], next: index };
  const { block, next } = readIndentedLines(lines, start);
  return { nodes: [createCodeBlock(block.join('\n'))], next };
}

/** A paragraph ends before a blank or an indented line. */
function findParagraphEnd(lines: readonly string[], index: number): number {
  let end = index + 1;
  while (!isBlankLine(lines[end]) && indentWidth(lines[end] ?? '') === 0) end += 1;
  return end;
}

const ADORNMENT = /^([!-/:-@[-`{-~])\1+$/;

/** A title with an adornment below, or above and below. */
export const readTitle: RstReader = (lines, index, context) => {
  const [first = '', second = '', third = ''] = lines.slice(index, index + 3).map((line) => line.trimEnd());
  if (
    ADORNMENT.test(first) &&
    !isBlankLine(second) &&
    third === first &&
    first.length >= Math.min(4, second.trim().length)
  ) {
    const depth = context.headingDepth(`${first.charAt(0)}${first.charAt(0)}`);
    return { nodes: [{ type: 'heading', depth, children: context.inline(second.trim()) }], next: index + 3 };
  }
  const isTitled = ADORNMENT.test(second) && !ADORNMENT.test(first) && !/^\s/.test(first);
  // An adornment may be shorter than its title by mistake, but two or three characters are likely none.
  if (!isTitled || second.length < Math.min(4, first.length)) return null;
  const depth = context.headingDepth(second.charAt(0));
  return { nodes: [{ type: 'heading', depth, children: context.inline(first) }], next: index + 2 };
};

/** The plain text of the title below blank lines and explicit markup; empty if other text is there. */
export function findTitleBelow(lines: readonly string[], index: number): string {
  let at = skipBlankLines(lines, index);
  // A title has a few targets above it at most.
  for (let count = 0; count < 8 && /^\.\.\s/.test(lines[at] ?? ''); count += 1)
    at = skipBlankLines(lines, readIndentedLines(lines, at + 1).next);
  const [first = '', second = '', third = ''] = lines.slice(at, at + 3).map((line) => line.trimEnd());
  const isOverlined = ADORNMENT.test(first) && third === first;
  const title = isOverlined ? second : ADORNMENT.test(second) && !ADORNMENT.test(first) ? first : '';
  return title.replace(/:[\w:+.-]+:(?=`)|[`*]/g, '').trim();
}

/** A line of punctuation between blank lines, which is dropped. */
export const readTransition: RstReader = (lines, index) => {
  const line = lines[index]?.trimEnd() ?? '';
  const isTransition = ADORNMENT.test(line) && line.length >= 4 && isBlankLine(lines[index + 1]);
  return isTransition ? { nodes: [], next: index + 1 } : null;
};

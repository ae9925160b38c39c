import type { BlockContent, DefinitionContent, List, PhrasingContent, RootContent, Table } from 'mdast';
import remarkGfm from 'remark-gfm';
import remarkParse from 'remark-parse';
import { type Processor, unified } from 'unified';
import { layoutTable } from './format-table.ts';
import type { Terminal } from './terminal.ts';
import { type TextRun, wrapRuns } from './wrap-text.ts';

export interface MarkdownTarget {
  terminal: Terminal;
  /** Infinite for a pipe. */
  width: number;
}

const WORDS = { paintWords: true };
const MIN_COLUMN_WIDTH = 8;

/** Syntax that depends on the next line, turns indented text into code, or hides text. */
const DISABLED_SYNTAX = ['setextUnderline', 'codeIndented', 'definition', 'htmlFlow', 'htmlText'];

function disableSyntax(this: Processor): void {
  const data: { micromarkExtensions?: unknown[] } = this.data();
  data.micromarkExtensions ??= [];
  data.micromarkExtensions.push({ disable: { null: DISABLED_SYNTAX } });
}

const parser = unified().use(remarkParse).use(remarkGfm, { singleTilde: false }).use(disableSyntax);

export function parseAnswerMarkdown(source: string): RootContent[] {
  return parser.parse(source).children;
}

/** The lines of consecutive blocks, with a blank line where the source has one. */
export function formatBlocks(
  nodes: readonly RootContent[],
  source: string,
  target: MarkdownTarget,
): string[] {
  const lines: string[] = [];
  nodes.forEach((node, index) => {
    if (index > 0 && hasBlankLineBetween(nodes[index - 1], node)) lines.push('');
    lines.push(...linesOf(node as BlockContent | DefinitionContent, source, target));
  });
  return lines;
}

export function hasBlankLineBetween(before: RootContent | undefined, node: RootContent): boolean {
  return (node.position?.start.line ?? 0) - (before?.position?.end.line ?? 0) > 1;
}

function linesOf(node: BlockContent | DefinitionContent, source: string, target: MarkdownTarget): string[] {
  const { terminal, width } = target;
  switch (node.type) {
    case 'paragraph':
      return wrapRuns(runsOf(node.children, source, terminal, []), width, WORDS);
    case 'heading': {
      const styles = node.depth === 1 ? (['bold', 'underline'] as const) : (['bold'] as const);
      return wrapRuns(runsOf(node.children, source, terminal, styles), width, WORDS);
    }
    case 'list':
      return listLines(node, source, target);
    case 'blockquote': {
      const bar = terminal.text('│ ', 'dim');
      return formatBlocks(node.children, source, { terminal, width: width - 2 }).map((line) => bar + line);
    }
    case 'code': {
      // Not indented, so that a selection with the mouse is valid code.
      const [fence = '```'] = /^[ \t>]*(`{3,}|~{3,})/.exec(sourceOf(node, source))?.slice(1) ?? [];
      const code = node.value === '' ? [] : node.value.split('\n').map((line) => terminal.text(line));
      const opening = terminal.text(`${fence}${node.lang ?? ''}`, 'dim');
      return [opening, ...code, terminal.text(fence, 'dim')];
    }
    case 'table':
      return layoutTable(tableCells(node, source, terminal), {
        width,
        align: node.align ?? [],
        minWidth: MIN_COLUMN_WIDTH,
        paintRule: (line) => terminal.text(line, 'dim'),
      });
    case 'thematicBreak':
      return [terminal.text('─'.repeat(Math.min(width, 24)), 'dim')];
    default:
      return sourceOf(node, source)
        .split('\n')
        .flatMap((line) => wrapRuns([{ text: line, paint: (text) => terminal.text(text) }], width, WORDS));
  }
}

function listLines(list: List, source: string, { terminal, width }: MarkdownTarget): string[] {
  const lines: string[] = [];
  list.children.forEach((item, index) => {
    const before = list.children[index - 1];
    if (before !== undefined && hasBlankLineBetween(before, item)) lines.push('');
    // As written, because a list may continue an earlier one.
    const number = /^\s*(\d+[.)])/.exec(sourceOf(item, source))?.[1];
    const box = item.checked === true ? '[x] ' : item.checked === false ? '[ ] ' : '';
    const marker = `${number ?? '•'} ${box}`;
    const inside = formatBlocks(item.children, source, { terminal, width: width - marker.length });
    const [first = '', ...rest] = inside;
    lines.push(terminal.text(marker, 'cyan') + first);
    const indent = ' '.repeat(marker.length);
    lines.push(...rest.map((line) => (line === '' ? '' : indent + line)));
  });
  return lines;
}

function tableCells(table: Table, source: string, terminal: Terminal): TextRun[][][] {
  return table.children.map((row, index) =>
    row.children.map((cell) => runsOf(cell.children, source, terminal, index === 0 ? ['bold'] : [])),
  );
}

type Styles = readonly Extract<Parameters<Terminal['text']>[1], string>[];

function runsOf(
  nodes: readonly PhrasingContent[],
  source: string,
  terminal: Terminal,
  styles: Styles,
): TextRun[] {
  const paint = (also: Styles) => {
    const all = [...styles, ...also];
    return (text: string) => (all.length === 0 ? terminal.text(text) : terminal.text(text, [...all]));
  };
  const inside = (children: readonly PhrasingContent[], style: Styles[number]) =>
    runsOf(children, source, terminal, [...styles, style]);
  return nodes.flatMap((node): TextRun[] => {
    switch (node.type) {
      case 'text':
        return [{ text: node.value, paint: paint([]) }];
      case 'strong':
        // `__init__` is a name, not emphasis.
        if (/^__\w+__$/.test(sourceOf(node, source))) {
          return [{ text: sourceOf(node, source), paint: paint([]) }];
        }
        return inside(node.children, 'bold');
      case 'emphasis':
        return inside(node.children, 'italic');
      case 'delete':
        return inside(node.children, 'strikethrough');
      case 'inlineCode':
        return terminal.colours
          ? [{ text: node.value, paint: paint(['cyan']) }]
          : [{ text: sourceOf(node, source), paint: paint([]) }];
      case 'break':
        return [{ text: '\n', paint: paint([]) }];
      case 'link':
      case 'image': {
        const words = node.type === 'link' ? runsOf(node.children, source, terminal, styles) : [];
        const text = node.type === 'link' ? words.map((run) => run.text).join('') : (node.alt ?? '');
        const shown = text === '' ? node.url : text;
        const linked: TextRun = { text: shown, paint: (part) => terminal.link(node.url, part, 'underline') };
        const isBare = node.url === shown || node.url === `mailto:${shown}` || node.url === `http://${shown}`;
        return terminal.colours || isBare ? [linked] : [linked, { text: ` (${node.url})`, paint: paint([]) }];
      }
      default:
        return [{ text: sourceOf(node, source), paint: paint([]) }];
    }
  });
}

function sourceOf({ position }: Pick<RootContent, 'position'>, source: string): string {
  return source.slice(position?.start.offset ?? 0, position?.end.offset ?? 0);
}

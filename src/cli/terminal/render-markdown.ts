import type { BlockContent, DefinitionContent, List, PhrasingContent, RootContent, Table } from 'mdast';
import remarkGfm from 'remark-gfm';
import remarkParse from 'remark-parse';
import { type Processor, unified } from 'unified';
import { createHighlighter } from './highlight-code.ts';
import { layTable } from './lay-table.ts';
import type { Terminal } from './terminal.ts';
import { flowRuns, type Look, type Run } from './wrapping.ts';

/**
 * What would only be known of a line by the line below it, makes code of a text that is merely indented, or would not
 * be shown, is not Markdown here.
 */
const NOT_MARKDOWN = ['setextUnderline', 'codeIndented', 'definition', 'htmlFlow', 'htmlText'];

function plainBlocks(this: Processor): void {
  const data: { micromarkExtensions?: unknown[] } = this.data();
  data.micromarkExtensions ??= [];
  data.micromarkExtensions.push({ disable: { null: NOT_MARKDOWN } });
}

const parser = unified().use(remarkParse).use(remarkGfm, { singleTilde: false }).use(plainBlocks);

export function parseMarkdown(source: string): RootContent[] {
  return parser.parse(source).children;
}

/** The lines of blocks that follow each other, with a blank one where the source has one. */
export function blockLines(nodes: readonly RootContent[], source: string, look: Look): string[] {
  const lines: string[] = [];
  nodes.forEach((node, index) => {
    if (index > 0 && isApart(nodes[index - 1], node)) lines.push('');
    lines.push(...linesOf(node as BlockContent | DefinitionContent, source, look));
  });
  return lines;
}

/** Whether a blank line stands between two blocks. */
export function isApart(before: RootContent | undefined, node: RootContent): boolean {
  return (node.position?.start.line ?? 0) - (before?.position?.end.line ?? 0) > 1;
}

function linesOf(node: BlockContent | DefinitionContent, source: string, look: Look): string[] {
  const { terminal, width } = look;
  switch (node.type) {
    case 'paragraph':
      return flowRuns(runsOf(node.children, source, terminal, []), width);
    case 'heading': {
      const looks = node.depth === 1 ? (['bold', 'underline'] as const) : (['bold'] as const);
      return flowRuns(runsOf(node.children, source, terminal, looks), width);
    }
    case 'list':
      return listLines(node, source, look);
    case 'blockquote': {
      const bar = terminal.text('│ ', 'dim');
      return blockLines(node.children, source, { terminal, width: width - 2 }).map((line) => bar + line);
    }
    case 'code': {
      // Nothing stands before the lines, so that what is marked with the mouse is the code.
      const highlight = createHighlighter(terminal, node.lang ?? '');
      const [fence = '```'] = /^[ \t>]*(`{3,}|~{3,})/.exec(sourceOf(node, source))?.slice(1) ?? [];
      const code = node.value === '' ? [] : node.value.split('\n').map(highlight);
      const opening = terminal.text(`${fence}${node.lang ?? ''}`, 'dim');
      return [opening, ...code, terminal.text(fence, 'dim')];
    }
    case 'table':
      return layTable(tableCells(node, source, terminal), node.align ?? [], look);
    case 'thematicBreak':
      return [terminal.text('─'.repeat(Math.min(width, 24)), 'dim')];
    default:
      return sourceOf(node, source)
        .split('\n')
        .flatMap((line) => flowRuns([{ text: line, paint: (text) => terminal.text(text) }], width));
  }
}

function listLines(list: List, source: string, { terminal, width }: Look): string[] {
  const lines: string[] = [];
  list.children.forEach((item, index) => {
    const before = list.children[index - 1];
    if (before !== undefined && isApart(before, item)) lines.push('');
    // Numbers as they were written: a list that goes on is not begun anew.
    const number = /^\s*(\d+[.)])/.exec(sourceOf(item, source))?.[1];
    const box = item.checked === true ? '[x] ' : item.checked === false ? '[ ] ' : '';
    const marker = `${number ?? '•'} ${box}`;
    const inside = blockLines(item.children, source, { terminal, width: width - marker.length });
    const [first = '', ...rest] = inside;
    lines.push(terminal.text(marker, 'cyan') + first);
    const indent = ' '.repeat(marker.length);
    lines.push(...rest.map((line) => (line === '' ? '' : indent + line)));
  });
  return lines;
}

function tableCells(table: Table, source: string, terminal: Terminal): Run[][][] {
  return table.children.map((row, index) =>
    row.children.map((cell) => runsOf(cell.children, source, terminal, index === 0 ? ['bold'] : [])),
  );
}

type Looks = readonly Extract<Parameters<Terminal['text']>[1], string>[];

/** The words of a line of text, each with how it looks. */
function runsOf(nodes: readonly PhrasingContent[], source: string, terminal: Terminal, looks: Looks): Run[] {
  const paint = (also: Looks) => {
    const all = [...looks, ...also];
    return (text: string) => (all.length === 0 ? terminal.text(text) : terminal.text(text, [...all]));
  };
  const inside = (children: readonly PhrasingContent[], look: Looks[number]) =>
    runsOf(children, source, terminal, [...looks, look]);
  return nodes.flatMap((node): Run[] => {
    switch (node.type) {
      case 'text':
        return [{ text: node.value, paint: paint([]) }];
      case 'strong':
        // A name such as __init__ is no emphasis of anybody's.
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
        const words = node.type === 'link' ? runsOf(node.children, source, terminal, looks) : [];
        const text = node.type === 'link' ? words.map((run) => run.text).join('') : (node.alt ?? '');
        const shown = text === '' ? node.url : text;
        const linked: Run = { text: shown, paint: (part) => terminal.link(node.url, part, 'underline') };
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

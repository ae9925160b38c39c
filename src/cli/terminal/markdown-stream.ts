import type { BlockContent, DefinitionContent, List, PhrasingContent, RootContent, Table } from 'mdast';
import remarkGfm from 'remark-gfm';
import remarkParse from 'remark-parse';
import { type Processor, unified } from 'unified';
import { visit } from 'unist-util-visit';
import { layoutTable } from './format-table.ts';
import type { Terminal } from './terminal.ts';
import { type TextRun, wrapRuns } from './wrap-text.ts';

interface MarkdownTarget {
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

/** Characters after which an open block is parsed again; a line feed parses it at once. */
const PARSE_AFTER = 24;

export interface MarkdownStream {
  push(text: string): void;
  /** Writes the rest and ends the last line. */
  end(): void;
}

/**
 * Prints each block while it arrives and never changes what is printed: text that may still become something else (a
 * partial word, an open emphasis, the first row of a table) waits until it is certain, at the latest until its block
 * ends. Finished blocks and list items are dropped, so the cost per character does not grow with the answer.
 */
export function createMarkdownStream(target: MarkdownTarget): MarkdownStream {
  const write = (text: string) => target.terminal.write(text);
  /** The source from the first unfinished block on. */
  let pending = '';
  let unread = 0;
  /** The printed part of that block. */
  let shown = '';
  /** Line feeds between it and the block before. */
  let between = '';

  function show(lines: readonly string[]): void {
    const text = lines.join('\n');
    // More source can make the certain part shorter.
    if (shown.startsWith(text)) return;
    if (shown === '') write(between);
    // A block that turned out to be of another type is printed again on a new line.
    const isContinued = text.startsWith(shown);
    write(isContinued ? text.slice(shown.length) : `\n${text}`);
    shown = text;
  }

  function dropSource(offset: number, hasBlankLine: boolean): void {
    pending = pending.slice(offset);
    if (shown !== '') between = hasBlankLine ? '\n\n' : '\n';
    shown = '';
  }

  function takeBlocks(): void {
    const blocks = parseAnswerMarkdown(pending);
    const open = blocks.at(-1);
    if (open === undefined) return;
    const list = blocks.length === 1 && open.type === 'list' ? open : null;
    const siblings: readonly RootContent[] = list?.children ?? blocks;
    const [before, last] = siblings.slice(-2);
    if (last !== undefined) {
      const done = list === null ? blocks.slice(0, -1) : [{ ...list, children: list.children.slice(0, -1) }];
      show(formatBlocks(done, pending, target));
      dropSource(lineStart(pending, last), hasBlankLineBetween(before, last));
      takeBlocks();
      return;
    }
    const certain = certainPart(pending);
    if (certain === '') return;
    show(formatBlocks(parseAnswerMarkdown(certain), certain, target));
  }

  return {
    push(text) {
      pending += text;
      unread += text.length;
      // A pipe gets the whole text at the end.
      if (!target.terminal.interactive) return;
      if (shown !== '' && unread < PARSE_AFTER && !text.includes('\n')) return;
      unread = 0;
      takeBlocks();
    },
    end() {
      show(formatBlocks(parseAnswerMarkdown(pending), pending, target));
      if (shown !== '' || between !== '') write('\n');
      pending = '';
      shown = '';
      between = '';
    },
  };
}

export function renderMarkdownText(target: MarkdownTarget, source: string): void {
  const lines = formatBlocks(parseAnswerMarkdown(source), source, target);
  if (lines.length > 0) target.terminal.write(`${lines.join('\n')}\n`);
}

/** The start of a block whose meaning cannot change with what follows. */
function certainPart(source: string): string {
  const words = source.replace(/\S+$/, '');
  const leaf = lastLeaf(parseAnswerMarkdown(words).at(-1));
  if (leaf?.position === undefined) return '';
  const start = leaf.position.start.offset ?? 0;
  if (leaf.type === 'table') return source.slice(0, start);
  if (leaf.type === 'code') return words.slice(0, words.lastIndexOf('\n') + 1);
  const lastLine = words.lastIndexOf('\n', words.trimEnd().length - 1) + 1;
  // Only markers, which may become a rule, or what may be the first row of a table.
  if (/^[\s>\-*+#=~`|:_\d.)]*$/.test(words.slice(lastLine)) || words.includes('|', lastLine)) {
    return certainPart(words.slice(0, lastLine));
  }
  const open = firstOpening(leaf, words);
  // Without the text after it, an earlier delimiter may be open, too.
  return open < 0 ? words : certainPart(words.slice(0, open));
}

/** The start of an emphasis, a code span or a link that is still plain text, because it has not ended. */
const OPENING_DELIMITER =
  /(?<!\\)(?:`|\*+(?=[^\s*])|(?<![\p{L}\p{N}_])_+(?=[^\s_])|~~(?=[^\s~])|!?\[(?![^\]]*\](?!\()))/u;

function firstOpening(leaf: RootContent, source: string): number {
  let found = -1;
  visit(leaf, 'text', ({ position }) => {
    const start = position?.start.offset ?? 0;
    const at = found < 0 ? source.slice(start, position?.end.offset).search(OPENING_DELIMITER) : -1;
    if (at >= 0) found = start + at;
  });
  return found;
}

function lastLeaf(node: RootContent | undefined): RootContent | undefined {
  const holds = node?.type === 'list' || node?.type === 'listItem' || node?.type === 'blockquote';
  return holds ? lastLeaf(node.children.at(-1)) : node;
}

function lineStart(source: string, { position }: Pick<RootContent, 'position'>): number {
  return source.lastIndexOf('\n', (position?.start.offset ?? 0) - 1) + 1;
}

function parseAnswerMarkdown(source: string): RootContent[] {
  return parser.parse(source).children;
}

/** The lines of consecutive blocks, with a blank line where the source has one. */
function formatBlocks(nodes: readonly RootContent[], source: string, target: MarkdownTarget): string[] {
  const lines: string[] = [];
  nodes.forEach((node, index) => {
    if (index > 0 && hasBlankLineBetween(nodes[index - 1], node)) lines.push('');
    lines.push(...linesOf(node as BlockContent | DefinitionContent, source, target));
  });
  return lines;
}

function hasBlankLineBetween(before: RootContent | undefined, node: RootContent): boolean {
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
      const code = node.value === '' ? [] : node.value.split('\n');
      // Colour shows where code begins and ends. It is not indented, so that a selection with the mouse is valid code.
      if (terminal.colours) return code.map((line) => terminal.text(line, 'green'));
      if (terminal.interactive) return code.map((line) => terminal.text(`    ${line}`));
      const [fence = '```'] = /^[ \t>]*(`{3,}|~{3,})/.exec(sourceOf(node, source))?.slice(1) ?? [];
      return [`${fence}${node.lang ?? ''}`, ...code, fence].map((line) => terminal.text(line));
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
        // Not all terminals open links, so the target is shown, too.
        return isBare ? [linked] : [linked, { text: ` (${node.url})`, paint: paint(['dim']) }];
      }
      default:
        return [{ text: sourceOf(node, source), paint: paint([]) }];
    }
  });
}

function sourceOf({ position }: Pick<RootContent, 'position'>, source: string): string {
  return source.slice(position?.start.offset ?? 0, position?.end.offset ?? 0);
}

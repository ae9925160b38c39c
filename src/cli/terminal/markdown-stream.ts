import type { RootContent } from 'mdast';
import { visit } from 'unist-util-visit';
import {
  formatBlocks,
  hasBlankLineBetween,
  type MarkdownTarget,
  parseAnswerMarkdown,
} from './render-markdown.ts';

/** Characters after which an open block is parsed again; a line feed parses it at once. */
const PARSE_AFTER = 24;
/** For a pipe, where parsing often would only cost time. */
const PARSE_AFTER_IN_PIPE = 400;

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
  const { interactive } = target.terminal;
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
    if (blocks.length > 1) {
      show(formatBlocks(blocks.slice(0, -1), pending, target));
      dropSource(lineStart(pending, open), hasBlankLineBetween(blocks.at(-2), open));
      takeBlocks();
      return;
    }
    if (open.type === 'list' && open.children.length > 1) {
      const last = open.children[open.children.length - 1];
      const done = { ...open, children: open.children.slice(0, -1) };
      if (last === undefined) return;
      show(formatBlocks([done], pending, target));
      dropSource(lineStart(pending, last), hasBlankLineBetween(done.children.at(-1), last));
      takeBlocks();
      return;
    }
    const certain = certainPart(pending);
    if (certain === '') return;
    const lines = formatBlocks(parseAnswerMarkdown(certain), certain, target);
    show(isOpenCode(certain) ? lines.slice(0, -1) : lines);
  }

  return {
    push(text) {
      pending += text;
      unread += text.length;
      const waits = interactive ? shown !== '' && unread < PARSE_AFTER : unread < PARSE_AFTER_IN_PIPE;
      if (waits && !text.includes('\n')) return;
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

function isOpenCode(source: string): boolean {
  const leaf = lastLeaf(parseAnswerMarkdown(source).at(-1));
  if (leaf?.type !== 'code') return false;
  const [opening = '', ...lines] = source.slice(leaf.position?.start.offset).trimEnd().split('\n');
  const fence = /^(?:`{3,}|~{3,})/.exec(opening)?.[0] ?? '';
  return !(lines.at(-1) ?? '').replace(/^[\s>]+/, '').startsWith(fence);
}

function lineStart(source: string, { position }: Pick<RootContent, 'position'>): number {
  return source.lastIndexOf('\n', (position?.start.offset ?? 0) - 1) + 1;
}

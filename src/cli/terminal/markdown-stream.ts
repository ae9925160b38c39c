import type { RootContent } from 'mdast';
import { visit } from 'unist-util-visit';
import { blockLines, isApart, parseMarkdown } from './render-markdown.ts';
import type { Look } from './wrapping.ts';

/** Once a block is shown in part, more of it is looked at when there is so much more, or a line is complete. */
const ENOUGH = 24;
/** Where nobody looks on: reading Markdown takes longer than all else that is done with a short answer. */
const ENOUGH_FOR_PROGRAMS = 400;

/** Markdown that arrives in pieces, on its way to the terminal. */
export interface MarkdownStream {
  push(text: string): void;
  /** Writes the rest and ends the last line. */
  end(): void;
}

/**
 * Shows each block as its words come, and never takes back what was shown: what may still turn into something else (a
 * word, an open emphasis, the first row of a table) waits until that is known, which is at the latest when its block
 * ends. Whole blocks and list items are done with, so a long answer costs no more to read than a short one.
 */
export function createMarkdownStream(look: Look): MarkdownStream {
  const { interactive } = look.terminal;
  const write = (text: string) => look.terminal.write(text);
  /** The source from the first block that is not done. */
  let pending = '';
  let unread = 0;
  /** What is shown of that block. */
  let shown = '';
  /** What stands between it and the one before. */
  let between = '';

  function show(lines: readonly string[]): void {
    const text = lines.join('\n');
    // Doubts may be had of what was certain without them.
    if (shown.startsWith(text)) return;
    if (shown === '') write(between);
    // A block that turned out to be another begins once more on a line of its own.
    const goesOn = text.startsWith(shown);
    write(goesOn ? text.slice(shown.length) : `\n${text}`);
    shown = text;
  }

  /** Done with everything before this offset of the source. */
  function cut(offset: number, isApartFromIt: boolean): void {
    pending = pending.slice(offset);
    if (shown !== '') between = isApartFromIt ? '\n\n' : '\n';
    shown = '';
  }

  function takeBlocks(): void {
    const blocks = parseMarkdown(pending);
    const open = blocks.at(-1);
    if (open === undefined) return;
    if (blocks.length > 1) {
      show(blockLines(blocks.slice(0, -1), pending, look));
      cut(lineStart(pending, open), isApart(blocks.at(-2), open));
      takeBlocks();
      return;
    }
    if (open.type === 'list' && open.children.length > 1) {
      const last = open.children[open.children.length - 1];
      const done = { ...open, children: open.children.slice(0, -1) };
      if (last === undefined) return;
      show(blockLines([done], pending, look));
      cut(lineStart(pending, last), isApart(done.children.at(-1), last));
      takeBlocks();
      return;
    }
    const certain = certainPart(pending);
    if (certain === '') return;
    const lines = blockLines(parseMarkdown(certain), certain, look);
    show(isOpenCode(certain) ? lines.slice(0, -1) : lines);
  }

  return {
    push(text) {
      pending += text;
      unread += text.length;
      const isLittle = interactive ? shown !== '' && unread < ENOUGH : unread < ENOUGH_FOR_PROGRAMS;
      if (isLittle && !text.includes('\n')) return;
      unread = 0;
      takeBlocks();
    },
    end() {
      show(blockLines(parseMarkdown(pending), pending, look));
      if (shown !== '' || between !== '') write('\n');
      pending = '';
      shown = '';
      between = '';
    },
  };
}

/** All of a Markdown text at once. */
export function renderMarkdown(look: Look, source: string): void {
  const lines = blockLines(parseMarkdown(source), source, look);
  if (lines.length > 0) look.terminal.write(`${lines.join('\n')}\n`);
}

/** The beginning of a block that means the same whatever follows. */
function certainPart(source: string): string {
  const words = source.replace(/\S+$/, '');
  const leaf = lastLeaf(parseMarkdown(words).at(-1));
  if (leaf?.position === undefined) return '';
  const start = leaf.position.start.offset ?? 0;
  if (leaf.type === 'table') return source.slice(0, start);
  if (leaf.type === 'code') return words.slice(0, words.lastIndexOf('\n') + 1);
  const lastLine = words.lastIndexOf('\n', words.trimEnd().length - 1) + 1;
  // Markers alone, which may be a rule as well, or what may be the first row of a table.
  if (/^[\s>\-*+#=~`|:_\d.)]*$/.test(words.slice(lastLine)) || words.includes('|', lastLine)) {
    return certainPart(words.slice(0, lastLine));
  }
  const doubt = firstDoubt(leaf, words);
  // Without what follows, more of it may be in doubt.
  return doubt < 0 ? words : certainPart(words.slice(0, doubt));
}

/** What begins something that has not ended: emphasis, code, a link. */
const OPENING =
  /(?<!\\)(?:`|\*+(?=[^\s*])|(?<![\p{L}\p{N}_])_+(?=[^\s_])|~~(?=[^\s~])|!?\[(?![^\]]*\](?!\()))/u;

function firstDoubt(leaf: RootContent, source: string): number {
  let found = -1;
  visit(leaf, 'text', ({ position }) => {
    const start = position?.start.offset ?? 0;
    const at = found < 0 ? source.slice(start, position?.end.offset).search(OPENING) : -1;
    if (at >= 0) found = start + at;
  });
  return found;
}

function lastLeaf(node: RootContent | undefined): RootContent | undefined {
  const holds = node?.type === 'list' || node?.type === 'listItem' || node?.type === 'blockquote';
  return holds ? lastLeaf(node.children.at(-1)) : node;
}

function isOpenCode(source: string): boolean {
  const leaf = lastLeaf(parseMarkdown(source).at(-1));
  if (leaf?.type !== 'code') return false;
  const [opening = '', ...lines] = source.slice(leaf.position?.start.offset).trimEnd().split('\n');
  const fence = /^(?:`{3,}|~{3,})/.exec(opening)?.[0] ?? '';
  return !(lines.at(-1) ?? '').replace(/^[\s>]+/, '').startsWith(fence);
}

function lineStart(source: string, { position }: Pick<RootContent, 'position'>): number {
  return source.lastIndexOf('\n', (position?.start.offset ?? 0) - 1) + 1;
}

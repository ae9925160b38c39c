export interface TextRange {
  start: number;
  end: number;
}

/** A range of a text and what replaces it. */
export interface TextEdit extends TextRange {
  text: string;
}

/** Applies edits, which are in order and do not overlap. */
export function replaceRanges(text: string, edits: readonly TextEdit[]): string {
  let replaced = '';
  let at = 0;
  for (const edit of edits) {
    replaced += text.slice(at, edit.start) + edit.text;
    at = edit.end;
  }
  return replaced + text.slice(at);
}

/** The range in the edited text, for one that begins and ends outside of the edits. */
export function shiftRange({ start, end }: TextRange, edits: readonly TextEdit[]): TextRange {
  const shift = (at: number) =>
    edits.reduce((sum, edit) => (edit.end <= at ? sum + edit.text.length - edit.end + edit.start : sum), at);
  return { start: shift(start), end: shift(end) };
}

/** A paragraph, list item, table row, heading or fenced code block. */
export interface MarkdownBlock extends TextRange {
  kind: 'text' | 'heading' | 'code';
  /** The offset after the bullet, number or quote mark. */
  content: number;
}

const PREFIX = /^(?:[ \t]|>)*(?:(?:[-*+•]|\d{1,9}[.)])[ \t]+)?(?:\[[ xX]\][ \t]+)?/;
const HEADING = /^(?:[ \t]|>)*#{1,6}[ \t]+/;
const STARTS_BLOCK = /^(?:[ \t]|>)*(?:[-*+•][ \t]|\d{1,9}[.)][ \t]|\||>)/;
const FENCE = /^(?:[ \t]|>)*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}|~{3,})/;
const RULE = /^[ \t]*(?:={2,}|-{3,}|\*{3,}|_{3,})[ \t]*$/;
/** Characters of a line that are examined; bounds the work for long lines. */
const LINE_HEAD = 200;

/** The blocks of a Markdown text in order. An unclosed fence reaches to the end. */
export function findMarkdownBlocks(text: string): MarkdownBlock[] {
  const blocks: MarkdownBlock[] = [];
  let open: MarkdownBlock | null = null;
  let fence: string | null = null;
  for (let start = 0; start < text.length; ) {
    const feed = text.indexOf('\n', start);
    const end = feed < 0 ? text.length : feed;
    const head = text.slice(start, Math.min(end, start + LINE_HEAD));
    const line = { start, end };
    start = end + 1;
    if (fence !== null && open !== null) {
      open.end = end;
      if (closesFence(text.slice(line.start, end), fence)) {
        fence = null;
        open = null;
      }
      continue;
    }
    fence = FENCE.exec(head)?.[1] ?? null;
    if (fence?.startsWith('`') && text.slice(line.start, end).split(fence).length > 2) fence = null;
    if (fence !== null) {
      open = { ...line, kind: 'code', content: line.start };
      blocks.push(open);
    } else if (head.trim() === '' || RULE.test(head)) {
      open = null;
    } else if (HEADING.test(head)) {
      const content = line.start + (HEADING.exec(head)?.[0].length ?? 0);
      blocks.push({ ...line, kind: 'heading', content });
      open = null;
    } else if (open === null || STARTS_BLOCK.test(head)) {
      open = { ...line, kind: 'text', content: line.start + (PREFIX.exec(head)?.[0].length ?? 0) };
      blocks.push(open);
    } else {
      open.end = end;
    }
  }
  return blocks;
}

function closesFence(line: string, fence: string): boolean {
  const trimmed = line.replace(/^[\s>]+/, '').trimEnd();
  return trimmed.length >= fence.length && trimmed === fence.charAt(0).repeat(trimmed.length);
}

/** The range between the fences of a code block. */
export function findInnerCode(text: string, { start, end }: TextRange): TextRange {
  const [fence = ''] = /^[^\n]*\n?/.exec(text.slice(start, end)) ?? [];
  const from = start + fence.length;
  const code = text.slice(from, end).replace(/(?:^|\n)[ \t>]*(?:`{3,}|~{3,})\s*$/, '');
  return { start: from, end: from + code.length };
}

/** The code spans of a block: from a run of backticks to the next run of the same length, in linear time. */
export function findCodeSpans(text: string, block: TextRange): TextRange[] {
  const runs: { start: number; length: number }[] = [];
  for (let at = text.indexOf('`', block.start); at >= 0 && at < block.end; at = text.indexOf('`', at)) {
    const start = at;
    while (at < block.end && text.charAt(at) === '`') at += 1;
    runs.push({ start, length: at - start });
  }
  const byLength = Map.groupBy(Array.from(runs.keys()).reverse(), (i) => runs[i]?.length);
  const spans: TextRange[] = [];
  let next = 0;
  runs.forEach((run, i) => {
    if (i < next) return;
    const escaped = isEscaped(text, run.start, block.start) ? 1 : 0;
    const later = byLength.get(run.length - escaped) ?? [];
    while (later.length > 0 && (later.at(-1) ?? 0) <= i) later.pop();
    const close = runs[later.at(-1) ?? -1];
    if (close === undefined) return;
    spans.push({ start: run.start + escaped, end: close.start + close.length });
    next = (later.at(-1) ?? i) + 1;
  });
  return spans;
}

/** Whether an odd number of backslashes precedes a character. */
function isEscaped(text: string, at: number, from: number): boolean {
  let start = at;
  while (start > from && text.charAt(start - 1) === '\\') start -= 1;
  return (at - start) % 2 === 1;
}

import type { Heading, Paragraph, RootContent } from 'mdast';

/** A text item of unpdf; `transform` contains the font size and the position. */
export interface PdfTextItem {
  str: string;
  transform: number[];
  width: number;
  hasEOL: boolean;
}

/** A line of a page with the position of its start, in points from the lower left corner. */
export interface PdfLine {
  text: string;
  size: number;
  x: number;
  y: number;
}

/** Joins the text items of a page, which are in reading order, to lines. */
export function joinTextItems(items: readonly PdfTextItem[]): PdfLine[] {
  const lines: PdfLine[] = [];
  let line: PdfLine | undefined;
  let right = 0;
  for (const { str, transform, width, hasEOL } of items) {
    const [, , skew = 0, scale = 0, x = 0, y = 0] = transform;
    const size = Math.hypot(skew, scale);
    if (str.trim() !== '') {
      if (
        line === undefined ||
        Math.abs(y - line.y) > Math.max(size, line.size) / 2 ||
        x < right - size * 2
      ) {
        line = { text: '', size, x, y };
        lines.push(line);
      } else if (x - right > size * 0.15) {
        line.text += ' ';
      }
      // The size of a line is that of its largest text, since a heading may start with a small number.
      line.size = Math.max(line.size, size);
      line.text += str;
      right = x + width;
    } else if (line !== undefined && str !== '') {
      line.text += ' ';
    }
    if (hasEOL) line = undefined;
  }
  return lines.map((each) => ({ ...each, text: cleanLine(each.text) })).filter((each) => each.text !== '');
}

/** Collapses spaces and the dots of a table of contents. */
function cleanLine(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .replace(/(?: ?\.){5,} ?/g, ' … ')
    .trim();
}

const BULLET = /^[•◦▪‣●○■–]\s+/;

/** The minimum size of headings relative to the body text. */
const HEADING_RATIO = 1.15;

/** Joins the lines of each page to paragraphs and headings. Paragraphs do not continue on the next page. */
export function toPdfContent(pages: readonly PdfLine[][]): RootContent[] {
  const bodySize = commonSize(pages);
  const headingSizes = findHeadingSizes(pages, bodySize);
  const content: RootContent[] = [];
  for (const [index, page] of pages.entries()) {
    const location = { unit: 'page', from: index + 1, to: index + 1 } as const;
    for (const group of groupLines(page)) {
      const node = toNode(group, headingSizes);
      const last = content.at(-1);
      if (node.type === 'list') for (const item of node.children) item.data = { location };
      else node.data = { location };
      if (node.type === 'list' && last?.type === 'list') last.children.push(...node.children);
      else content.push(node);
    }
  }
  return content;
}

function toNode(lines: PdfLine[], headingSizes: readonly number[]): RootContent {
  const value = joinLines(lines.map((line) => line.text));
  const level = headingSizes.indexOf(roundSize(lines[0]?.size ?? 0)) + 1;
  if (level > 0 && value.length <= 200) {
    const depth = Math.min(6, level) as Heading['depth'];
    return { type: 'heading', depth, children: [{ type: 'text', value }] };
  }
  const paragraph: Paragraph = {
    type: 'paragraph',
    children: [{ type: 'text', value: value.replace(BULLET, '') }],
  };
  if (!BULLET.test(value)) return paragraph;
  return { type: 'list', children: [{ type: 'listItem', children: [paragraph] }] };
}

/** Groups consecutive lines with the same size and distance. */
function groupLines(lines: readonly PdfLine[]): PdfLine[][] {
  const leading = commonLeading(lines);
  const groups: PdfLine[][] = [];
  for (const line of lines) {
    const group = groups.at(-1);
    const last = group?.at(-1);
    if (group === undefined || last === undefined || startsParagraph(last, line, group, leading))
      groups.push([line]);
    else group.push(line);
  }
  return groups;
}

function startsParagraph(last: PdfLine, line: PdfLine, group: readonly PdfLine[], leading: number): boolean {
  if (roundSize(last.size) !== roundSize(line.size) || BULLET.test(line.text)) return true;
  const distance = last.y - line.y;
  // A line further up is in the next column, where a sentence may continue.
  if (distance < 0) return /[.!?:]$/.test(last.text);
  if (distance > Math.max(leading * 1.35, line.size * 1.1)) return true;
  return group.length > 1 && line.x - last.x > line.size * 0.8;
}

/** The usual line distance on a page, which is that of lines within a paragraph. */
function commonLeading(lines: readonly PdfLine[]): number {
  const distances = lines
    .map((line, index) => (lines[index - 1]?.y ?? line.y) - line.y)
    .filter((distance, index) => distance > 0 && distance < (lines[index]?.size ?? 0) * 2.5)
    .sort((left, right) => left - right);
  return distances[Math.floor(distances.length / 3)] ?? 0;
}

/** Joins lines, and words that were hyphenated at the end of a line. */
function joinLines(lines: readonly string[]): string {
  return lines.reduce((text, line) => {
    if (/\p{L}[-\u00ad\u2010]$/u.test(text) && /^\p{Ll}/u.test(line)) return text.slice(0, -1) + line;
    return `${text} ${line}`;
  });
}

function commonSize(pages: readonly PdfLine[][]): number {
  const characters = new Map<number, number>();
  for (const { size, text } of pages.flat()) {
    characters.set(roundSize(size), (characters.get(roundSize(size)) ?? 0) + text.length);
  }
  const [most] = [...characters].sort((left, right) => right[1] - left[1]);
  return most?.[0] ?? 0;
}

/** The sizes of headings, largest first. */
function findHeadingSizes(pages: readonly PdfLine[][], bodySize: number): number[] {
  const sizes = pages.flat().map((line) => roundSize(line.size));
  return [...new Set(sizes)]
    .filter((size) => size >= bodySize * HEADING_RATIO)
    .sort((left, right) => right - left);
}

function roundSize(size: number): number {
  return Math.round(size * 2) / 2;
}

/** Headers and footers are removed only from documents with at least this many pages. */
const MIN_PAGES = 4;

const PAGE_NUMBER = /^[-–\s]*(\d+|[ivxlc]+)[-–\s]*$/;

/** Removes page numbers, and headers and footers that most pages repeat. */
export function dropHeadersAndFooters(pages: readonly PdfLine[][]): PdfLine[][] {
  if (pages.length < MIN_PAGES) return [...pages];
  const counts = new Map<string, number>();
  for (const page of pages) {
    for (const key of new Set(edgeLines(page).map(lineKey))) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const isRunning = (line: PdfLine): boolean =>
    PAGE_NUMBER.test(line.text) || (counts.get(lineKey(line)) ?? 0) > pages.length / 2;
  return pages.map((page) => {
    const edges = new Set(edgeLines(page));
    return page.filter((line) => !edges.has(line) || !isRunning(line));
  });
}

function edgeLines(page: readonly PdfLine[]): PdfLine[] {
  const byHeight = page.toSorted((left, right) => right.y - left.y);
  return [...byHeight.slice(0, 2), ...byHeight.slice(-2)];
}

function lineKey({ text, y }: PdfLine): string {
  return `${Math.round(y / 4)} ${text.replace(/\d+/g, '#')}`;
}

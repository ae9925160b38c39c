import type { Heading, RootContent } from 'mdast';
import type { Line } from './lines.ts';

const BULLET = /^[•◦▪‣●○■–]\s+/;

/** How much larger than the running text a heading is set. */
const HEADING_RATIO = 1.15;

/** Joins the lines of each page to paragraphs and headings. A paragraph never goes on over a page's end. */
export function toContent(pages: readonly Line[][]): RootContent[] {
  const bodySize = commonSize(pages);
  const headingSizes = sizesOfHeadings(pages, bodySize);
  const content: RootContent[] = [];
  for (const group of pages.flatMap(groupLines)) {
    const node = toNode(group, headingSizes);
    const last = content.at(-1);
    if (node.type === 'list' && last?.type === 'list') last.children.push(...node.children);
    else content.push(node);
  }
  return content;
}

function toNode(lines: Line[], headingSizes: readonly number[]): RootContent {
  const value = joinLines(lines.map((line) => line.text));
  const level = headingSizes.indexOf(roundSize(lines[0]?.size ?? 0)) + 1;
  if (level > 0 && value.length <= 200) {
    return {
      type: 'heading',
      depth: Math.min(6, level) as Heading['depth'],
      children: [{ type: 'text', value }],
    };
  }
  const text = { type: 'text' as const, value: value.replace(BULLET, '') };
  if (!BULLET.test(value)) return { type: 'paragraph', children: [text] };
  return {
    type: 'list',
    children: [{ type: 'listItem', children: [{ type: 'paragraph', children: [text] }] }],
  };
}

/** Lines belong together while size and distance stay the same. */
function groupLines(lines: readonly Line[]): Line[][] {
  const leading = commonLeading(lines);
  const groups: Line[][] = [];
  for (const line of lines) {
    const group = groups.at(-1);
    const last = group?.at(-1);
    if (group === undefined || last === undefined || startsParagraph(last, line, group, leading))
      groups.push([line]);
    else group.push(line);
  }
  return groups;
}

function startsParagraph(last: Line, line: Line, group: readonly Line[], leading: number): boolean {
  if (roundSize(last.size) !== roundSize(line.size) || BULLET.test(line.text)) return true;
  const distance = last.y - line.y;
  // Upwards is the next column, where a sentence may go on.
  if (distance < 0) return /[.!?:]$/.test(last.text);
  if (distance > Math.max(leading * 1.35, line.size * 1.1)) return true;
  return group.length > 1 && line.x - last.x > line.size * 0.8;
}

/** The usual distance of two lines on a page; lines of one paragraph are the closest ones. */
function commonLeading(lines: readonly Line[]): number {
  const distances = lines
    .map((line, index) => (lines[index - 1]?.y ?? line.y) - line.y)
    .filter((distance, index) => distance > 0 && distance < (lines[index]?.size ?? 0) * 2.5)
    .sort((left, right) => left - right);
  return distances[Math.floor(distances.length / 3)] ?? 0;
}

/** One text of several lines; a word that was divided at a line's end is whole again. */
function joinLines(lines: readonly string[]): string {
  return lines.reduce((text, line) => {
    if (/\p{L}[-\u00ad\u2010]$/u.test(text) && /^\p{Ll}/u.test(line)) return text.slice(0, -1) + line;
    return `${text} ${line}`;
  });
}

/** The size most characters are set in. */
function commonSize(pages: readonly Line[][]): number {
  const characters = new Map<number, number>();
  for (const { size, text } of pages.flat()) {
    characters.set(roundSize(size), (characters.get(roundSize(size)) ?? 0) + text.length);
  }
  const [most] = [...characters].sort((left, right) => right[1] - left[1]);
  return most?.[0] ?? 0;
}

/** The sizes that headings are set in, the largest first. */
function sizesOfHeadings(pages: readonly Line[][], bodySize: number): number[] {
  const sizes = pages.flat().map((line) => roundSize(line.size));
  return [...new Set(sizes)]
    .filter((size) => size >= bodySize * HEADING_RATIO)
    .sort((left, right) => right - left);
}

function roundSize(size: number): number {
  return Math.round(size * 2) / 2;
}

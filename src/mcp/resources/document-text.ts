import type { EmbeddedChunk } from '../../ports/chunk-store.ts';

type Piece = Pick<EmbeddedChunk, 'text' | 'start' | 'chunkIndex' | 'headings'>;

/**
 * A document's text put together from its chunks. What two chunks share is there once. What lies between
 * them was not kept: headings are written anew, and the white space is as good as its length tells.
 */
export function documentText(title: string, chunks: readonly Piece[]): string {
  const inOrder = [...chunks].sort((a, b) => a.chunkIndex - b.chunkIndex);
  let text = title === '' ? '' : `# ${title}\n\n`;
  let end = 0;
  let above: readonly string[] = [];
  for (const [index, { text: piece, start, headings }] of inOrder.entries()) {
    // Collections that others made do not say where a chunk stood.
    const isPlaced = index === 0 || start > 0;
    const gap = isPlaced ? start - end : 2;
    const begun = newHeadings(above, headings, isPlaced ? gap : Number.POSITIVE_INFINITY);
    if (begun !== '') text += `${text === '' || text.endsWith('\n\n') ? '' : '\n\n'}${begun}\n\n${piece}`;
    else if (gap < 0) text += piece.slice(-gap);
    else text += `${index === 0 ? '' : whiteSpace(gap)}${piece}`;
    end = Math.max(end, start + piece.length);
    above = headings;
  }
  return text;
}

/** The headings that were not above the chunk before, as far as they fit into what lies between the two. */
function newHeadings(before: readonly string[], now: readonly string[], room: number): string {
  const firstNew = now.findIndex((heading, depth) => heading !== before[depth]);
  if (firstNew < 0) return '';
  const lines: string[] = [];
  let left = room;
  for (let depth = now.length - 1; depth >= firstNew; depth -= 1) {
    const heading = now[depth] ?? '';
    left -= heading.length;
    // A chunk of several short sections holds their headings itself.
    if (left < 0) break;
    lines.unshift(`${'#'.repeat(depth + 2)} ${heading}`);
  }
  return lines.join('\n\n');
}

function whiteSpace(length: number): string {
  if (length === 0) return '';
  return length === 1 ? '\n' : '\n\n';
}

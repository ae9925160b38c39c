import type { EmbeddedChunk } from '../../ports/chunk-store.ts';

type Piece = Pick<EmbeddedChunk, 'text' | 'start' | 'chunkIndex' | 'headings'>;

/**
 * A document's text put together from its chunks. What two chunks share is there once. Chunks hold no headings
 * and no white space around them: headings are written anew, and the white space is as good as its length tells.
 */
export function documentText(title: string, chunks: readonly Piece[]): string {
  const inOrder = [...chunks].sort((a, b) => a.chunkIndex - b.chunkIndex);
  let text = title === '' ? '' : `# ${title}\n\n`;
  let end = 0;
  let above: readonly string[] = [];
  for (const [index, { text: piece, start, headings }] of inOrder.entries()) {
    // Collections that others made do not say where a chunk stood.
    const gap = index > 0 && start === 0 ? 2 : start - end;
    const begun = newHeadings(above, headings);
    if (begun !== '') text += `${text === '' || text.endsWith('\n\n') ? '' : '\n\n'}${begun}\n\n${piece}`;
    else if (gap < 0) text += piece.slice(-gap);
    else text += `${index === 0 ? '' : whiteSpace(gap)}${piece}`;
    end = Math.max(end, start + piece.length);
    above = headings;
  }
  return text;
}

/** The headings that were not above the chunk before, one below the other. */
function newHeadings(before: readonly string[], now: readonly string[]): string {
  const kept = now.findIndex((heading, depth) => heading !== before[depth]);
  if (kept < 0) return '';
  return now
    .slice(kept)
    .map((heading, index) => `${'#'.repeat(kept + index + 2)} ${heading}`)
    .join('\n\n');
}

function whiteSpace(length: number): string {
  if (length === 0) return '';
  return length === 1 ? '\n' : '\n\n';
}

import type { ParsedDocument } from '../../domain/document.ts';
import { createBlockWriter } from './block-writer.ts';

/** Plain text: paragraphs by blank lines, their lines kept as they are. No headings are guessed. */
export function parsePlainText(source: string): ParsedDocument {
  const writer = createBlockWriter();
  for (const paragraph of source.split(/\n(?:[^\S\n]*\n)+/)) {
    const lines = paragraph.split('\n').map((line) => line.trimEnd());
    writer.write('paragraph', 0, lines.join('\n'));
  }
  return { title: null, metadata: {}, ...writer.finish() };
}

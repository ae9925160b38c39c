import type { BlockKind, DocumentBlock, ParsedDocument } from '../../domain/document.ts';
import type { SourceLocation } from '../../domain/location.ts';
import { cleanText } from './decode-text.ts';

export interface BlockWriter {
  /**
   * Adds a block after a blank line, unless it is blank. Items of the same `list` are on consecutive lines, indented by
   * their depth.
   */
  write(
    kind: BlockKind,
    depth: number,
    text: string,
    options?: { list?: object | undefined; location?: SourceLocation | undefined },
  ): void;
  finish(): Pick<ParsedDocument, 'text' | 'blocks'>;
}

/** Joins blocks to one text and records their offsets. */
export function createBlockWriter(): BlockWriter {
  const parts: string[] = [];
  const blocks: DocumentBlock[] = [];
  let length = 0;
  let lastList: object | undefined;

  const append = (part: string): void => {
    parts.push(part);
    length += part.length;
  };

  return {
    write(kind, depth, text, { list, location } = {}) {
      const content = cleanText(text).trim();
      if (content === '') return;
      const sameList = list !== undefined && list === lastList;
      if (blocks.length > 0) append(sameList ? `\n${'  '.repeat(depth - 1)}` : '\n\n');
      const end = length + content.length;
      blocks.push({ kind, depth, start: length, end, ...(location && { location }) });
      append(content);
      lastList = list;
    },
    finish: () => ({ text: parts.join(''), blocks }),
  };
}

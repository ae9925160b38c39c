import type { Block, BlockKind, ParsedDocument } from '../../domain/document.ts';
import type { Location } from '../../domain/location.ts';
import { cleanText } from './decode-text.ts';

interface WriteOptions {
  list?: object | undefined;
  location?: Location | undefined;
}

export interface BlockWriter {
  /**
   * Adds a block after a blank line; one without content is left out. Items of the same `list` follow
   * each other line by line, indented by their depth. `location` is where the source has it.
   */
  write(kind: BlockKind, depth: number, text: string, options?: WriteOptions): void;
  /** The text and the blocks written so far. */
  finish(): Pick<ParsedDocument, 'text' | 'blocks'>;
}

/** Lays blocks out one after another and keeps their offsets. */
export function createBlockWriter(): BlockWriter {
  const parts: string[] = [];
  const blocks: Block[] = [];
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
      blocks.push({
        kind,
        depth,
        start: length,
        end: length + content.length,
        ...(location && { location }),
      });
      append(content);
      lastList = list;
    },
    finish: () => ({ text: parts.join(''), blocks }),
  };
}

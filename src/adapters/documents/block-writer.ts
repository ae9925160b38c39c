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

/** A long run of base64, which is abridged. */
const ENCODED = /(?<![\w+/])(?=[a-z\d+/]*[A-Z])(?=[A-Za-z+/]*\d)([A-Za-z\d+/]{64})[A-Za-z\d+/]{400,}={0,2}/g;
/** A line of a certificate, a signature or hashes. */
const ENCODED_LINE = /(?<!\S)(?=[A-Za-z+/=]*\d)[A-Za-z\d+/=]{40,}(?!\S)/g;

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
      const clean = cleanText(text).trim().replace(ENCODED, '$1…');
      if (clean === '') return;
      const isEncoded = kind === 'paragraph' && clean.replace(ENCODED_LINE, '').length < clean.length / 2;
      const content = isEncoded ? `\`\`\`\n${clean}\n\`\`\`` : clean;
      const sameList = list !== undefined && list === lastList;
      if (blocks.length > 0) append(sameList ? `\n${'  '.repeat(depth - 1)}` : '\n\n');
      const end = length + content.length;
      const shown = isEncoded ? 'code' : kind;
      blocks.push({ kind: shown, depth, start: length, end, ...(location && { location }) });
      append(content);
      lastList = list;
    },
    finish: () => ({ text: parts.join(''), blocks }),
  };
}

import { expect } from 'vitest';
import { createDocumentParser } from '../../../src/adapters/documents/parse-document.ts';
import type { BlockKind, MediaType, ParsedDocument } from '../../../src/domain/document.ts';

const parse = createDocumentParser();

/** Parses source text as a file of that format, and holds the result to what every document promises. */
export async function parseSource(
  mediaType: MediaType,
  source: string | Uint8Array,
): Promise<ParsedDocument> {
  const bytes = typeof source === 'string' ? new TextEncoder().encode(source) : source;
  const document = await parse({ uri: `file:///docs/page.${mediaType}`, mediaType, bytes });
  expectSoundBlocks(document);
  return document;
}

/** Each block as `[kind, depth, text]`. */
export function blocksOf({ text, blocks }: ParsedDocument): [BlockKind, number, string][] {
  return blocks.map(({ kind, depth, start, end }) => [kind, depth, text.slice(start, end)]);
}

/** In order, disjoint, filled and trimmed, with only the white space of the layout between them. */
export function expectSoundBlocks({ text, blocks }: ParsedDocument): void {
  let position = 0;
  const faults = blocks.filter(({ start, end }) => {
    const gap = text.slice(position, start);
    const content = text.slice(start, end);
    const isSound = start >= position && (position === 0 ? gap === '' : /^\n(\n| *)$/.test(gap));
    position = end;
    return !isSound || content === '' || content !== content.trim();
  });
  expect(faults).toEqual([]);
  expect(text.slice(position)).toBe('');
  expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
}

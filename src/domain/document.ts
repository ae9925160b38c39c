import { createHash } from 'node:crypto';
import type { Location } from './location.ts';

/** The formats that documents come in. */
const MEDIA_TYPES = [
  'markdown',
  'mdx',
  'rst',
  'asciidoc',
  'html',
  'text',
  'pdf',
  'docx',
  'epub',
  'csv',
  'xlsx',
  'notebook',
  'code',
] as const;
export type MediaType = (typeof MEDIA_TYPES)[number];

/** The bytes of one document, as they were read. */
export interface RawDocument {
  /** Where it was read from: a `file:` or `http(s):` URL, after redirects. */
  uri: string;
  mediaType: MediaType;
  bytes: Uint8Array;
}

export type BlockKind = 'heading' | 'paragraph' | 'code' | 'table' | 'item';

/** A structural piece of a document's text: `text.slice(start, end)`. */
export interface Block {
  kind: BlockKind;
  /** Heading level 1..6, nesting of a list item from 1, otherwise 0. */
  depth: number;
  start: number;
  end: number;
  /** Where it stands in the source, if the format tells. */
  location?: Location | undefined;
}

/**
 * A document whatever its format was. `text` is clean reading text: no front matter, no markup of links
 * and emphasis, code in fences, tables as rows with pipes, list items with their markers.
 * Blocks are in order and disjoint, and nothing but white space lies between them.
 */
export interface ParsedDocument {
  title: string | null;
  /** Scalar fields of the front matter or of the document's own properties, as strings. */
  metadata: Record<string, string>;
  text: string;
  blocks: Block[];
}

/** A piece of a document that is embedded, stored and cited as one. */
export interface Chunk {
  /** `document.text.slice(start, end)`. */
  text: string;
  start: number;
  end: number;
  chunkIndex: number;
  /** The headings above it, outermost first. */
  headings: string[];
  /** Where it stands in the source, if the format tells. */
  location?: Location | undefined;
  /** What is embedded: title and headings, then the text. */
  embedded: string;
  /** Tokens of what is embedded, as the embedder counts them. */
  tokenCount: number;
  /** SHA-256 of what is embedded, so that equal content is never embedded twice. */
  contentHash: string;
}

/** A UUID (version 8) of a document's url and a chunk's position: the same on every machine and for every store. */
export function chunkId(url: string, chunkIndex: number): string {
  const hex = createHash('sha256').update(`${url}\n${chunkIndex}`).digest('hex');
  const variant = ((Number.parseInt(hex[16] ?? '0', 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

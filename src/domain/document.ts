import { createHash, hash } from 'node:crypto';
import type { SourceLocation } from './location.ts';

export type MediaType =
  | 'markdown'
  | 'mdx'
  | 'rst'
  | 'asciidoc'
  | 'html'
  | 'text'
  | 'pdf'
  | 'docx'
  | 'odt'
  | 'pptx'
  | 'epub'
  | 'csv'
  | 'xlsx'
  | 'notebook'
  | 'yaml'
  | 'ini'
  | 'code';

/** The bytes of a document. */
export interface RawDocument {
  /** A `file:` or `http(s):` URL, after redirects. */
  uri: string;
  mediaType: MediaType;
  bytes: Uint8Array;
  /** The files that it includes, by their path as it is written in the document. */
  included?: Readonly<Record<string, Uint8Array>>;
}

export type BlockKind = 'heading' | 'paragraph' | 'code' | 'table' | 'item';

/** A structural element of a document: `text.slice(start, end)`. */
export interface DocumentBlock {
  kind: BlockKind;
  /** Heading level 1..6, nesting level of a list item from 1, otherwise 0. */
  depth: number;
  start: number;
  end: number;
  /** The position in the source, if the format has one. */
  location?: SourceLocation | undefined;
}

/**
 * A document in a common form. `text` has no front matter and no markup of links and emphasis; code is fenced, table rows
 * have pipes, list items their markers. Blocks are in order and disjoint, with only white space between them.
 */
export interface ParsedDocument {
  title: string | null;
  /** Scalar fields of the front matter or the document properties. */
  metadata: Record<string, string>;
  text: string;
  blocks: DocumentBlock[];
}

/** A part of a document that is embedded, stored and cited as one. */
export interface DocumentChunk {
  /** `document.text.slice(start, end)`. */
  text: string;
  start: number;
  end: number;
  chunkIndex: number;
  /** The headings above it, outermost first. */
  headings: string[];
  /** The position in the source, if the format has one. */
  location?: SourceLocation | undefined;
  /** The embedded text: title and headings, then the text. */
  embedded: string;
  /** Tokens of the embedded text, as the embedder counts them. */
  tokenCount: number;
  /** SHA-256 of the embedded text; equal content is embedded once. */
  contentHash: string;
}

/** Title and headings on one line. The lines after the first are ever shorter: the middle is dropped first. */
export function* headingLines(path: readonly string[]): Generator<string> {
  const parts = path.filter((part) => part !== '');
  for (;;) {
    const line = parts.join(' > ');
    yield line;
    if (line === '') return;
    if (parts.length > 1) parts.splice(parts.length > 2 ? 1 : 0, 1);
    else parts[0] = shortenHeading(line);
  }
}

function shortenHeading(heading: string): string {
  const words = heading.split(' ');
  return words.length > 1
    ? words.slice(0, Math.ceil(words.length / 2)).join(' ')
    : heading.slice(0, heading.length >>> 1);
}

/** The text that is embedded and hashed. */
export function withHeadingLine(line: string, text: string): string {
  return `${line}\n${text}`;
}

export function hashContent(embedded: string): string {
  return hash('sha256', embedded);
}

/** Whether title, headings and text are those that the hash was made of; some sources hash the text alone. */
export function matchesContentHash({
  title,
  headings,
  text,
  contentHash,
}: Pick<DocumentChunk, 'headings' | 'text' | 'contentHash'> & { title: string }): boolean {
  // The embedder's token limit chose one of the lines; nearly always the first.
  const [first = '', ...shorter] = headingLines([title, ...headings]);
  const matches = (embedded: string) => hashContent(embedded) === contentHash;
  const matchesWith = (line: string) => matches(withHeadingLine(line, text));
  return matchesWith(first) || matches(text) || shorter.some(matchesWith);
}

/** A UUID (version 8) from a document's URL and a chunk's index, the same on every machine and store. */
export function createChunkId(url: string, chunkIndex: number): string {
  const hex = createHash('sha256').update(`${url}\n${chunkIndex}`).digest('hex');
  const variant = ((Number.parseInt(hex[16] ?? '0', 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

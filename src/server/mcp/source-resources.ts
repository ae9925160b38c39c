import { createHash } from 'node:crypto';
import {
  type ListResourcesResult,
  ProtocolErrorCode,
  type ReadResourceResult,
} from '@modelcontextprotocol/server';
import type { ChunkRecord, DocumentRecord } from '../../ports/chunk-store.ts';
import { oneLine, visibleText } from '../../text/visible-text.ts';
import type { McpCollection, McpLibrary } from './mcp-library.ts';

const PAGE_SIZE = 100;
const MAX_NAME = 200;
const MIME_TYPE = 'text/plain';

/** An error that the client receives as a protocol error. The SDK's own class adds the code to the message. */
export class McpProtocolError extends Error {
  readonly code: number;
  readonly data: Record<string, unknown> | undefined;

  constructor(code: number, message: string, data?: Record<string, unknown>) {
    super(message);
    this.name = 'McpProtocolError';
    this.code = code;
    this.data = data;
  }
}

/** The resource URI of a document: a hash of its URL, so that it cannot name a path. */
export function toSourceUri(url: string): string {
  return `citeloop://sources/${createHash('sha256').update(url).digest('hex').slice(0, 32)}`;
}

type Source = Pick<DocumentRecord, 'uri' | 'url' | 'title' | 'module'>;
type Store = McpCollection['store'];

/** The documents of the collection as MCP resources. Their text comes from the store, never from a file. */
export function createSourceResources(library: McpLibrary) {
  let cached: { state: string; sources: Promise<Source[]> } | undefined;

  /** All documents in the order of their URIs, read again when the collection has changed. */
  async function listSources(store: Store): Promise<Source[]> {
    const { updatedAt, documents, chunks } = await store.info();
    const state = JSON.stringify([updatedAt, documents, chunks]);
    if (cached?.state !== state) {
      const sources = Array.fromAsync(store.documents()).then((found) =>
        found.sort((a, b) => (a.uri < b.uri ? -1 : 1)),
      );
      cached = { state, sources };
      sources.catch(() => {
        cached = undefined;
      });
    }
    return cached.sources;
  }

  return {
    /** Throws an McpProtocolError for an invalid cursor. */
    async list(cursor: string | undefined): Promise<ListResourcesResult> {
      const after = cursor === undefined ? '' : parseCursor(cursor);
      const { store } = await library.collection();
      const rest = (await listSources(store)).filter(({ uri }) => uri > after);
      const page = rest.slice(0, PAGE_SIZE);
      const last = page.at(-1);
      return {
        resources: page.map(toResource),
        ...(rest.length > PAGE_SIZE && last !== undefined && { nextCursor: formatCursor(last.uri) }),
      };
    },

    /** Throws an McpProtocolError if the URI is not one of a document. */
    async read(uri: string): Promise<ReadResourceResult> {
      const { store } = await library.collection();
      const source = (await listSources(store)).find(({ url }) => toSourceUri(url) === uri);
      const [found] = source === undefined ? [] : await store.read([source.uri]);
      if (found === undefined) {
        throw new McpProtocolError(ProtocolErrorCode.InvalidParams, 'Unknown source.', {
          uri: oneLine(uri, MAX_NAME),
        });
      }
      const text = visibleText(joinChunks(found.document.title, found.chunks));
      return { contents: [{ uri, mimeType: MIME_TYPE, text }] };
    },
  };
}

function toResource({ url, title, module }: Source) {
  const address = oneLine(url, 1000);
  return {
    uri: toSourceUri(url),
    name: oneLine(title, MAX_NAME) || address,
    description: module === null ? address : `${address} (module ${oneLine(module, MAX_NAME)})`,
    mimeType: MIME_TYPE,
  };
}

function formatCursor(uri: string): string {
  return Buffer.from(JSON.stringify({ after: uri })).toString('base64url');
}

function parseCursor(cursor: string): string {
  try {
    const { after } = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    if (typeof after === 'string') return after;
  } catch {
    // Handled below.
  }
  throw new McpProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid cursor.');
}

type Piece = Pick<ChunkRecord, 'text' | 'start' | 'chunkIndex' | 'headings'>;

/**
 * Joins the chunks of a document to its text. Overlaps occur once. The text between chunks is not stored: headings are
 * written from the metadata, and white space is estimated from the length of the gap.
 */
export function joinChunks(title: string, chunks: readonly Piece[]): string {
  const inOrder = [...chunks].sort((a, b) => a.chunkIndex - b.chunkIndex);
  let text = title === '' ? '' : `# ${title}\n\n`;
  let end = 0;
  let above: readonly string[] = [];
  for (const [index, { text: piece, start, headings }] of inOrder.entries()) {
    // Chunks of collections that another program wrote have no offsets.
    const isPlaced = index === 0 || start > 0;
    const gap = isPlaced ? start - end : 2;
    const added = formatNewHeadings(above, headings, isPlaced ? gap : Number.POSITIVE_INFINITY);
    if (added !== '') text += `${text === '' || text.endsWith('\n\n') ? '' : '\n\n'}${added}\n\n${piece}`;
    else if (gap < 0) text += piece.slice(-gap);
    else text += `${index === 0 || gap === 0 ? '' : gap === 1 ? '\n' : '\n\n'}${piece}`;
    end = Math.max(end, start + piece.length);
    above = headings;
  }
  return text;
}

/** The headings that the chunk before did not have, as far as they fit into the gap between the two. */
function formatNewHeadings(before: readonly string[], now: readonly string[], gap: number): string {
  const firstNew = now.findIndex((heading, depth) => heading !== before[depth]);
  if (firstNew < 0) return '';
  const lines: string[] = [];
  let left = gap;
  for (let depth = now.length - 1; depth >= firstNew; depth -= 1) {
    const heading = now[depth] ?? '';
    left -= heading.length;
    // A chunk of several short sections contains their headings itself.
    if (left < 0) break;
    lines.unshift(`${'#'.repeat(depth + 2)} ${heading}`);
  }
  return lines.join('\n\n');
}

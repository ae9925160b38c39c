import {
  ErrorCode,
  type ListResourcesResult,
  type ReadResourceResult,
} from '@modelcontextprotocol/sdk/types.js';
import type { ChunkRecord } from '../../ports/chunk-store.ts';
import { oneLine, visibleText } from '../../text/visible-text.ts';
import type { Library } from './library.ts';
import { createSourceIndex, parseSourceUri, type Source, sourceUri } from './source-index.ts';

const MOST_LISTED = 100;
const MAX_NAME = 200;
const MIME_TYPE = 'text/plain';

/** The protocol's number for it, which the SDK has no name for. */
const RESOURCE_NOT_FOUND = -32002;

/** A failure that the client gets as an error of the protocol; the SDK's own class writes its code into the text. */
export class ProtocolFault extends Error {
  readonly code: number;
  readonly data: Record<string, unknown> | undefined;

  constructor(code: number, message: string, data?: Record<string, unknown>) {
    super(message);
    this.name = 'ProtocolFault';
    this.code = code;
    this.data = data;
  }
}

interface SourceResources {
  /** Throws a ProtocolFault for a cursor that is none of ours. */
  list(cursor: string | undefined): Promise<ListResourcesResult>;
  /** Throws a ProtocolFault for whatever is not a document of the collection. */
  read(uri: string): Promise<ReadResourceResult>;
}

/** The documents of the collection as resources. Their texts come from the store alone, never from a file. */
export function createSourceResources(library: Library): SourceResources {
  const indexOf = createSourceIndex();
  return {
    async list(cursor) {
      const after = cursor === undefined ? null : parseCursor(cursor);
      const { store } = await library.collection();
      const { sources, isLast } = (await indexOf(store)).next(after, MOST_LISTED);
      const last = sources.at(-1);
      return {
        resources: sources.map(toResource),
        ...(!isLast && last !== undefined && { nextCursor: toCursor(last.uri) }),
      };
    },

    async read(uri) {
      const id = parseSourceUri(uri);
      const { store } = await library.collection();
      const source = id === null ? undefined : (await indexOf(store)).byId(id);
      const [found] = source === undefined ? [] : await store.read([source.uri]);
      if (found === undefined) {
        throw new ProtocolFault(RESOURCE_NOT_FOUND, 'There is no such source in the collection.', {
          uri: oneLine(uri, MAX_NAME),
        });
      }
      return {
        contents: [
          { uri, mimeType: MIME_TYPE, text: visibleText(documentText(found.document.title, found.chunks)) },
        ],
      };
    },
  };
}

function toResource({ url, title, module }: Source) {
  const address = oneLine(url, 1000);
  return {
    uri: sourceUri(url),
    name: oneLine(title, MAX_NAME) || address,
    description: module === null ? address : `${address} (module ${oneLine(module, MAX_NAME)})`,
    mimeType: MIME_TYPE,
  };
}

function toCursor(uri: string): string {
  return Buffer.from(JSON.stringify({ after: uri })).toString('base64url');
}

function parseCursor(cursor: string): string {
  try {
    const { after } = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    if (typeof after === 'string') return after;
  } catch {
    // Whatever it is, it did not come from here.
  }
  throw new ProtocolFault(ErrorCode.InvalidParams, 'The cursor is not one that this server gave.');
}

type Piece = Pick<ChunkRecord, 'text' | 'start' | 'chunkIndex' | 'headings'>;

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

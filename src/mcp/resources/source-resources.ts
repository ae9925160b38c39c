import {
  ErrorCode,
  type ListResourcesResult,
  type ReadResourceResult,
} from '@modelcontextprotocol/sdk/types.js';
import { oneLine, visibleText } from '../../domain/visible-text.ts';
import type { Library } from '../library.ts';
import { ProtocolFault, RESOURCE_NOT_FOUND } from '../protocol-fault.ts';
import { documentText } from './document-text.ts';
import { createSourceIndex, type Source } from './source-index.ts';
import { parseSourceUri, sourceUri } from './source-uri.ts';

const PAGE_SIZE = 100;
const MAX_NAME = 200;
const MIME_TYPE = 'text/plain';

export interface SourceResources {
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
      const { sources, isLast } = (await indexOf(store)).page(after, PAGE_SIZE);
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

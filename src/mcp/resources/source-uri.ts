import { createHash } from 'node:crypto';

const ID_LENGTH = 32;
const SOURCE_URI = /^citeloop:\/\/sources\/([\da-f]{32})$/;

/** The name of a document among the resources. It holds no path: nothing can be climbed with it. */
export function sourceUri(url: string): string {
  return `citeloop://sources/${sourceId(url)}`;
}

/** Null for anything that is not exactly the name of a source. */
export function parseSourceUri(uri: string): string | null {
  return SOURCE_URI.exec(uri)?.[1] ?? null;
}

export function sourceId(url: string): string {
  return createHash('sha256').update(url).digest('hex').slice(0, ID_LENGTH);
}

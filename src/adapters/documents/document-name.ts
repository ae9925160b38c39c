import { fileURLToPath } from 'node:url';

/** How a document is named to a person: the path of a file, the address of a page. */
export function documentName(uri: string): string {
  try {
    return uri.startsWith('file:') ? fileURLToPath(uri) : uri;
  } catch {
    return uri;
  }
}

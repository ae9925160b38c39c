/**
 * Where a passage is from, as a model or a citation may say it: the address of a page, or the path of a file
 * below what was ingested. Never where this machine keeps it: of a `file:` URL, which a store that was filled
 * by others may hold, only the name is left.
 */
export function placeOf({ url }: { url: string }): string {
  return url.startsWith('file:') ? nameOf(url) : url;
}

/**
 * The place of a file below the root that was ingested, as a relative URL: the same wherever the root lies and
 * whatever it is called. A file that was named itself is at its name.
 */
export function placeBelow(root: string, uri: string): string {
  return isDirectory(root) && uri.startsWith(root) ? uri.slice(root.length) : nameOf(uri);
}

/** The address of a document as collections of today hold it; earlier ones know a file by where it lies. */
export function citedAddress({ url, uri, root }: { url: string; uri: string; root: string }): string {
  return url.startsWith('file:') ? placeBelow(root, uri) : url;
}

/** The field of a chunk that says where its file is; none if its document is on the web. */
export function fileOf(uri: string): { uri?: string } {
  return uri.startsWith('file:') ? { uri } : {};
}

/** The URL of a directory ends in a slash. */
export function isDirectory(url: string): boolean {
  return url.endsWith('/');
}

/** The last name of a URL, with the slash of a directory; empty for the root of a disk. */
export function nameOf(url: string): string {
  return /[^/]+\/?$/.exec(url)?.[0] ?? '';
}

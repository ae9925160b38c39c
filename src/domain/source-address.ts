/**
 * The public address of a passage: a web URL, or a path relative to the ingested root. A `file:` URL, which a collection
 * written by other programs may have, is cut to its file name, so that no local path is shown.
 */
export function publicAddress({ url }: { url: string }): string {
  return url.startsWith('file:') ? lastUrlSegment(url) : url;
}

/** The URL of a file relative to the ingested root, independent of where the root is; the name of a file ingested directly. */
export function relativeAddress(root: string, uri: string): string {
  return isDirectoryUrl(root) && uri.startsWith(root) ? uri.slice(root.length) : lastUrlSegment(uri);
}

/** The public address of a stored document; collections of early versions have `file:` URLs. */
export function documentAddress({ url, uri, root }: { url: string; uri: string; root: string }): string {
  return url.startsWith('file:') ? relativeAddress(root, uri) : url;
}

/** The `uri` field of a chunk from a local file; empty for web documents. */
export function fileUriField(uri: string): { uri?: string } {
  return uri.startsWith('file:') ? { uri } : {};
}

/** The URL of a directory ends in a slash. */
export function isDirectoryUrl(url: string): boolean {
  return url.endsWith('/');
}

/** The last segment of a URL, with the slash of a directory; empty for the root. */
export function lastUrlSegment(url: string): string {
  return /[^/]+\/?$/.exec(url)?.[0] ?? '';
}

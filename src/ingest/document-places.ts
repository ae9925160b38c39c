import { isDirectoryUrl, lastUrlSegment, relativeAddress } from '../domain/source-address.ts';
import type { DocumentRecord } from '../ports/chunk-store.ts';
import type { SourceEntry } from '../ports/document-source.ts';

type KnownPlace = Pick<DocumentRecord, 'uri' | 'root' | 'url'>;
type FoundEntry = Pick<SourceEntry, 'uri' | 'root' | 'relativePath'>;

/**
 * Assigns documents the address that is cited, the same on every machine. A file's place is its path below the ingested
 * root, or below the common directory of the roots that are ingested together. If the collection has another root that
 * still exists, the paths start with the root's name: `guide.md`, `notes/guide.md`, `notes-2/guide.md`. Known roots keep
 * their places. The place of a web page is its URL.
 */
export function createDocumentPlaces(
  known: Iterable<KnownPlace>,
  stillExists: (uri: string) => Promise<boolean>,
  together: readonly string[] = [],
) {
  const base = commonDirectory(together);
  const directories = new Set<string>();
  /** The prefix of the places below each root, and the root of each prefix. */
  const prefixes = new Map<string, string>();
  const owners = new Map<string, string>();
  /** Files that were ingested by name, by their places. */
  const files = new Map<string, string>();
  const replaced = new Set<string>();

  for (const { uri, root, url } of known) {
    if (!uri.startsWith('file:')) continue;
    if (isDirectoryUrl(root)) directories.add(root);
    if (URL.canParse(url)) continue;
    if (!isDirectoryUrl(root)) files.set(url, uri);
    else if (url.endsWith(relativeAddress(root, uri)) && !prefixes.has(root)) {
      const prefix = url.slice(0, url.length - relativeAddress(root, uri).length);
      if (!owners.has(prefix)) assign(prefix, root);
    }
  }

  function assign(prefix: string, root: string): string {
    prefixes.set(root, prefix);
    owners.set(prefix, root);
    return prefix;
  }

  async function prefixOf(root: string): Promise<string> {
    const assigned = prefixes.get(root);
    if (assigned !== undefined) return assigned;
    for (const [other, prefix] of prefixes) {
      if (lastUrlSegment(other) !== lastUrlSegment(root) || (await stillExists(other))) continue;
      prefixes.delete(other);
      replaced.add(other);
      return assign(prefix, root);
    }
    const preferred = together.includes(root) ? root.slice(base.length) : '';
    for (let number = 0; ; number += 1) {
      const prefix = number === 0 ? preferred : numberedName(lastUrlSegment(root), number);
      if (await isFree(prefix, root)) return assign(prefix, root);
    }
  }

  /** Documents inside the root do not count: they are placed again with it. */
  async function isFree(prefix: string, root: string): Promise<boolean> {
    const owner = owners.get(prefix);
    const others = [...(prefix === '' ? files.values() : []), ...(owner === undefined ? [] : [owner])];
    for (const other of others) if (!other.startsWith(root) && (await stillExists(other))) return false;
    return true;
  }

  async function placeOfFile(uri: string): Promise<string> {
    const known = [...files].find(([, other]) => other === uri)?.[0];
    if (known !== undefined) return known;
    for (let number = 1; ; number += 1) {
      const place = numberedName(
        together.includes(uri) ? uri.slice(base.length) : lastUrlSegment(uri),
        number,
      );
      const other = files.get(place);
      if (other !== undefined && other !== uri && (await stillExists(other))) continue;
      files.set(place, uri);
      return place;
    }
  }

  /** The outermost known directory around a root, or the root itself. */
  function outermostRoot(root: string): string {
    const around = [...directories].filter((other) => root.startsWith(other));
    return around.reduce((found, other) => (other.length < found.length ? other : found), root);
  }

  return {
    /**
     * The place of a document, with the root and relative path it follows from. It stays the same when the whole root is
     * moved, and when only a part of a known root is ingested again.
     */
    async place({ uri, root: foundIn, relativePath }: FoundEntry): Promise<FoundEntry & { place: string }> {
      if (!uri.startsWith('file:')) return { uri, root: foundIn, relativePath, place: uri };
      const root = outermostRoot(foundIn);
      if (!isDirectoryUrl(root)) return { uri, root, relativePath, place: await placeOfFile(uri) };
      directories.add(root);
      const below = relativeAddress(root, uri);
      return {
        uri,
        root,
        relativePath: root === foundIn ? relativePath : decodeURIComponent(below),
        place: (await prefixOf(root)) + below,
      };
    },
    /** Whether a root no longer exists and a new root of the same name took over its places. */
    isReplaced: (root: string) => replaced.has(root),
  };
}

/** The innermost directory that contains all roots: of a single directory, that itself. */
function commonDirectory(roots: readonly string[]): string {
  const [first = '', ...others] = roots.map((root) => new URL('.', root).href);
  return others.reduce((common, directory) => {
    let shared = common;
    while (!directory.startsWith(shared)) shared = new URL('..', shared).href;
    return shared;
  }, first);
}

/** `docs/` to `docs-2/`, `notes.md` to `notes-2.md`. */
function numberedName(name: string, number: number): string {
  if (number === 1) return name;
  return isDirectoryUrl(name)
    ? name.replace(/\/$/, `-${number}/`)
    : name.replace(/(\.\w+)?$/, `-${number}$1`);
}

import { isDirectory, nameOf, placeBelow } from '../domain/place.ts';
import type { DocumentRecord } from '../ports/chunk-store.ts';
import type { SourceEntry } from '../ports/loader.ts';

type Placed = Pick<DocumentRecord, 'uri' | 'root' | 'url'>;
type Found = Pick<SourceEntry, 'uri' | 'root' | 'relativePath'>;

/** Where the documents of a collection are from, whatever machine they lie on. */
interface DocumentPlaces {
  /**
   * The place of a document that was found, and the root and path that it follows from. It stays the same when
   * the root is moved as a whole, and when only a part of a root that the collection has is ingested again.
   */
  place(found: Found): Promise<Found & { place: string }>;
  /** Whether a root is gone, and one of the same name has come for it: its documents are to be looked for there. */
  isSucceeded(root: string): boolean;
}

/**
 * A file's place is its path below the root that was ingested. Where the collection has a root already that is
 * still there, the paths below another begin with its name: `guide.md`, `notes/guide.md`, `notes-2/guide.md`.
 * A page of the web is at its address.
 */
export function createDocumentPlaces(
  known: Iterable<Placed>,
  stillExists: (uri: string) => Promise<boolean>,
): DocumentPlaces {
  const directories = new Set<string>();
  /** What the places below a directory begin with, and whose beginning that is. */
  const beginnings = new Map<string, string>();
  const owners = new Map<string, string>();
  /** Files that were named themselves, by their places. */
  const files = new Map<string, string>();
  const succeeded = new Set<string>();

  for (const { uri, root, url } of known) {
    if (!uri.startsWith('file:')) continue;
    if (isDirectory(root)) directories.add(root);
    if (URL.canParse(url)) continue;
    if (!isDirectory(root)) files.set(url, uri);
    else if (url.endsWith(placeBelow(root, uri)) && !beginnings.has(root)) {
      const beginning = url.slice(0, url.length - placeBelow(root, uri).length);
      if (!owners.has(beginning)) give(beginning, root);
    }
  }

  function give(beginning: string, root: string): string {
    beginnings.set(root, beginning);
    owners.set(beginning, root);
    return beginning;
  }

  /** What the places below a directory begin with: once it is given, it stays. */
  async function beginningOf(root: string): Promise<string> {
    const has = beginnings.get(root);
    if (has !== undefined) return has;
    for (const [other, beginning] of beginnings) {
      if (nameOf(other) !== nameOf(root) || (await stillExists(other))) continue;
      beginnings.delete(other);
      succeeded.add(other);
      return give(beginning, root);
    }
    for (let number = 0; ; number += 1) {
      const beginning = number === 0 ? '' : numbered(nameOf(root), number);
      if (await isFree(beginning, root)) return give(beginning, root);
    }
  }

  /** What lies inside the root itself is placed anew with it. */
  async function isFree(beginning: string, root: string): Promise<boolean> {
    const owner = owners.get(beginning);
    const others = [...(beginning === '' ? files.values() : []), ...(owner === undefined ? [] : [owner])];
    for (const other of others) if (!other.startsWith(root) && (await stillExists(other))) return false;
    return true;
  }

  async function placeOfFile(uri: string): Promise<string> {
    for (let number = 1; ; number += 1) {
      const place = numbered(nameOf(uri), number);
      const other = files.get(place);
      if (other !== undefined && other !== uri && (await stillExists(other))) continue;
      files.set(place, uri);
      return place;
    }
  }

  /** The widest directory of the collection that a root lies in, or the root itself. */
  function widest(root: string): string {
    const around = [...directories].filter((other) => root.startsWith(other));
    return around.reduce((found, other) => (other.length < found.length ? other : found), root);
  }

  return {
    async place({ uri, root: foundIn, relativePath }) {
      if (!uri.startsWith('file:')) return { uri, root: foundIn, relativePath, place: uri };
      const root = widest(foundIn);
      if (!isDirectory(root)) return { uri, root, relativePath, place: await placeOfFile(uri) };
      directories.add(root);
      const below = placeBelow(root, uri);
      return {
        uri,
        root,
        relativePath: root === foundIn ? relativePath : decodeURIComponent(below),
        place: (await beginningOf(root)) + below,
      };
    },
    isSucceeded: (root) => succeeded.has(root),
  };
}

/** `docs/` to `docs-2/`, `notes.md` to `notes-2.md`. */
function numbered(name: string, number: number): string {
  if (number === 1) return name;
  return isDirectory(name) ? name.replace(/\/$/, `-${number}/`) : name.replace(/(\.\w+)?$/, `-${number}$1`);
}

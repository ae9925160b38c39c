import type { Dirent } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { mediaTypeOf } from '../documents/media-type.ts';
import { codeOf, fileFault } from './file-fault.ts';

export interface DirectoryListing {
  /** Files of a supported format, in no particular order. */
  paths: string[];
  /** Links that lead outside the directory; what they point at was not named, so it is not read. */
  skippedLinks: number;
  /** Directories below the root that may not be listed. */
  unreadable: string[];
}

/** Lists one directory; tests pass one that refuses. */
type ReadDirectory = (path: string) => Promise<Dirent[]>;

/**
 * Lists a directory with all below it, but for hidden names and node_modules. Links are followed last, and only
 * to what lies inside the root and was not met under its own name: loops end and nothing is listed twice.
 */
export async function walkDirectory(
  root: string,
  readDirectory: ReadDirectory = (path) => readdir(path, { withFileTypes: true }),
): Promise<DirectoryListing> {
  const listing: DirectoryListing = { paths: [], skippedLinks: 0, unreadable: [] };
  const realRoot = await realpath(root);
  const met = new Set<string>();
  const directories = [root];
  const links: string[] = [];

  async function list(directory: string): Promise<void> {
    const real = await realpath(directory);
    if (met.has(real)) return;
    met.add(real);
    for (const entry of await readDirectory(directory)) {
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
      const path = join(directory, entry.name);
      if (entry.isDirectory()) directories.push(path);
      else if (entry.isSymbolicLink()) links.push(path);
      else if (entry.isFile()) add(path, join(real, entry.name));
    }
  }

  function add(path: string, real: string): void {
    if (met.has(real) || mediaTypeOf(path) === null) return;
    met.add(real);
    listing.paths.push(path);
  }

  async function follow(link: string): Promise<void> {
    const real = await realpath(link).catch(() => null);
    // A link to nothing is listed under its own name; reading it says what is wrong.
    if (real === null) return add(link, link);
    if (!isInside(realRoot, real)) {
      listing.skippedLinks += 1;
      return;
    }
    const status = await stat(real);
    if (status.isDirectory()) directories.push(link);
    else if (status.isFile()) add(link, real);
  }

  for (;;) {
    const directory = directories.shift();
    if (directory !== undefined) {
      await list(directory).catch((error: unknown) => {
        if (directory === root || !['EACCES', 'EPERM'].includes(codeOf(error)))
          throw fileFault(directory, error);
        listing.unreadable.push(directory);
      });
      continue;
    }
    // Links are taken in the order of their names, so that of two links to one target the same one wins.
    const link = links.sort().shift();
    if (link === undefined) return listing;
    await follow(link);
  }
}

/** Whether a real path is the directory itself or lies below it. */
export function isInside(directory: string, path: string): boolean {
  const way = relative(directory, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && way !== path;
}

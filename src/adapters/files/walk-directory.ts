import type { Dirent } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { mediaTypeOf } from '../documents/media-type.ts';
import type { FileChoice } from './choose-files.ts';
import { codeOf, fileFault } from './read-consistently.ts';

interface DirectoryListing {
  /** Files of a supported format, in no particular order. */
  paths: string[];
  /** Links that lead outside the directory; what they point at was not named, so it is not read. */
  skippedLinks: number;
  /** Directories below the root that may not be listed. */
  unreadable: string[];
  /** What else was passed over. */
  skipped: SkippedFiles;
}

/** Files that were found and not taken. */
export interface SkippedFiles {
  /** Files of formats that are not read, by their ending; an empty one for names without. */
  formats: Map<string, number>;
  /** Files and directories that rules or patterns leave out. */
  rules: number;
  patterns: number;
}

export function nothingSkipped(): SkippedFiles {
  return { formats: new Map(), rules: 0, patterns: 0 };
}

/** Counts a file whose format is not read. */
export function countFormat({ formats }: SkippedFiles, path: string): void {
  const ending = extname(path).toLowerCase();
  formats.set(ending, (formats.get(ending) ?? 0) + 1);
}

/** Lists one directory; tests pass one that refuses. */
type ReadDirectory = (path: string) => Promise<Dirent[]>;

/**
 * Lists a directory with all below it that `choice` leaves in, but for hidden names and node_modules. Links are followed last, and only
 * to what lies inside the root and was not met under its own name: loops end and nothing is listed twice.
 */
export async function walkDirectory(
  root: string,
  choice: FileChoice,
  readDirectory: ReadDirectory = (path) => readdir(path, { withFileTypes: true }),
): Promise<DirectoryListing> {
  const listing: DirectoryListing = { paths: [], skippedLinks: 0, unreadable: [], skipped: nothingSkipped() };
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
      const reason = await choice.leavesOut(path, entry.isDirectory());
      if (reason !== null) {
        listing.skipped[reason] += 1;
        continue;
      }
      if (entry.isDirectory()) directories.push(path);
      else if (entry.isSymbolicLink()) links.push(path);
      else if (entry.isFile()) add(path, join(real, entry.name));
    }
  }

  function add(path: string, real: string): void {
    if (met.has(real)) return;
    met.add(real);
    if (mediaTypeOf(path) === null) countFormat(listing.skipped, path);
    else listing.paths.push(path);
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

import type { Dirent } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { mediaTypeOfPath } from '../documents/media-type.ts';
import type { FileFilter } from './file-filter.ts';
import { systemErrorCode, toFileError } from './read-source-file.ts';

interface DirectoryListing {
  paths: string[];
  /** Links to the outside, which are not followed. */
  skippedLinks: number;
  /** Directories without permission to list them. */
  unreadable: string[];
  skipped: SkippedFiles;
}

export interface SkippedFiles {
  /** Unsupported files by extension; empty for names without one. */
  formats: Map<string, number>;
  /** Files and directories excluded by ignore files or by patterns. */
  rules: number;
  patterns: number;
}

interface WalkOptions {
  /** Whether to list a file; default all. */
  matches?: (path: string) => boolean;
  /** For tests with unreadable directories. */
  readDirectory?: (path: string) => Promise<Dirent[]>;
}

/**
 * Lists a directory recursively, without hidden names, node_modules and what the filter excludes. Links are followed last,
 * and only inside the root to files that were not listed yet, so that loops end and nothing is listed twice.
 */
export async function walkDirectory(
  root: string,
  filter: FileFilter,
  options: WalkOptions = {},
): Promise<DirectoryListing> {
  const { matches = () => true } = options;
  const { readDirectory = (path) => readdir(path, { withFileTypes: true }) } = options;
  const listing: DirectoryListing = {
    paths: [],
    skippedLinks: 0,
    unreadable: [],
    skipped: { formats: new Map(), rules: 0, patterns: 0 },
  };
  const realRoot = await realpath(root);
  const visited = new Set<string>();
  const directories = [root];
  const links: string[] = [];

  async function list(directory: string): Promise<void> {
    const real = await realpath(directory);
    if (visited.has(real)) return;
    visited.add(real);
    for (const entry of await readDirectory(directory)) {
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
      const path = join(directory, entry.name);
      if (entry.isFile() && !matches(path)) continue;
      const reason = await filter.excludedBy(path, entry.isDirectory());
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
    if (visited.has(real) || !matches(path)) return;
    visited.add(real);
    if (mediaTypeOfPath(path) !== null) {
      listing.paths.push(path);
      return;
    }
    const { formats } = listing.skipped;
    const extension = extname(path).toLowerCase();
    formats.set(extension, (formats.get(extension) ?? 0) + 1);
  }

  async function follow(link: string): Promise<void> {
    const real = await realpath(link).catch(() => null);
    // A broken link is listed; reading it reports the error.
    if (real === null) return add(link, link);
    if (!isInsideDirectory(realRoot, real)) {
      if (matches(link)) listing.skippedLinks += 1;
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
        if (directory === root || !['EACCES', 'EPERM'].includes(systemErrorCode(error)))
          throw toFileError(directory, error);
        listing.unreadable.push(directory);
      });
      continue;
    }
    // Sorted, so that of two links to one target always the same is listed.
    const link = links.sort().shift();
    if (link === undefined) return listing;
    await follow(link);
  }
}

/** Whether a real path is the directory or below it. */
export function isInsideDirectory(directory: string, path: string): boolean {
  const below = relative(directory, path);
  return below !== '..' && !below.startsWith(`..${sep}`) && below !== path;
}

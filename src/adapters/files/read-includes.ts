import { realpath } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { findIncludePaths, type IncludedFiles } from '../documents/includes.ts';
import { type FileFilter, findExclusion, hasSkippedName } from './file-filter.ts';
import { readSourceFile } from './read-source-file.ts';
import { isInsideDirectory } from './walk-directory.ts';

const MAX_INCLUDES = 200;
const MAX_BYTES = 1024 * 1024;
const MAX_TOTAL_BYTES = 8 * MAX_BYTES;

/**
 * Reads the files that a Markdown or reStructuredText document includes. A path is relative to the directory of the document or to one above
 * it, as in MkDocs. Only files that an ingest of the root may read are included: no hidden or excluded files, and nothing
 * outside of the root, not even through a link.
 */
export async function readIncludes(
  document: { path: string; bytes: Uint8Array },
  root: string,
  filter: () => Promise<FileFilter>,
  signal?: AbortSignal,
): Promise<IncludedFiles> {
  const files: Record<string, Uint8Array> = {};
  let free = MAX_TOTAL_BYTES;
  for (const path of findIncludePaths(new TextDecoder().decode(document.bytes)).slice(0, MAX_INCLUDES)) {
    for (let base = dirname(document.path); isInsideDirectory(root, base); base = dirname(base)) {
      const file = await resolveInside(root, join(base, path));
      const isRefused = file === null || hasSkippedName(file, root);
      if (!isRefused && (await findExclusion(await filter(), root, file)) === null) {
        const options = { maxBytes: Math.min(MAX_BYTES, free), ...(signal && { signal }) };
        const bytes = await readSourceFile(file, options).catch(() => null);
        signal?.throwIfAborted();
        if (bytes !== null) {
          files[path] = bytes;
          free -= bytes.length;
        }
        break;
      }
      if (base === dirname(base)) break;
    }
  }
  return files;
}

/** The file without links, below `root`; null if it is missing or outside. */
async function resolveInside(root: string, path: string): Promise<string | null> {
  if (!isInsideDirectory(root, path) || path === root) return null;
  const [realRoot, real] = await Promise.all([realpath(root), realpath(path).catch(() => null)]);
  return real !== null && isInsideDirectory(realRoot, real) ? join(root, relative(realRoot, real)) : null;
}

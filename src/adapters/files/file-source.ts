import { accessSync, constants, existsSync, lstatSync, realpathSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { DocumentSource, SourceEntry } from '../../ports/document-source.ts';
import { mediaTypeOfPath } from '../documents/media-type.ts';
import { createFileFilter, type FileFilter, findExclusion, hasSkippedName } from './file-filter.ts';
import { type FindOptions, findFiles } from './find-files.ts';
import { readIncludes } from './read-includes.ts';
import { readSourceFile } from './read-source-file.ts';
import { isInsideDirectory } from './walk-directory.ts';

export interface FileSourceOptions extends FindOptions {
  /** Maximum size of a file; default 50 MB. */
  maxBytes?: number;
}

/**
 * The documents of a file, directory or glob, sorted by path. Lists them at once and throws `invalid_input` if the path is
 * missing or has no documents; each file is read when its entry is.
 */
export async function createFileSource(
  argument: string,
  options: FileSourceOptions,
): Promise<DocumentSource> {
  const { maxBytes = 50 * 1024 * 1024 } = options;
  const found = await findFiles(argument, options);
  const root = toRootUrl(found.root, found.kind);

  let filter: Promise<FileFilter> | undefined;
  const includeFilter = () => {
    filter ??= createFileFilter(found.root, { exclude: options.exclude });
    return filter;
  };

  function createEntry(path: string): SourceEntry {
    const uri = pathToFileURL(path).href;
    return {
      uri,
      root,
      relativePath: found.kind === 'file' ? basename(path) : relative(found.root, path).split(sep).join('/'),
      async read(signal) {
        const bytes = await readSourceFile(path, { maxBytes, ...(signal && { signal }) });
        const mediaType = mediaTypeOfPath(path) ?? 'text';
        if (!/^(?:markdown|rst)$/.test(mediaType) || found.kind === 'file') return { uri, mediaType, bytes };
        const included = await readIncludes({ path, bytes }, found.root, includeFilter, signal);
        return { uri, mediaType, bytes, included };
      },
    };
  }

  return {
    root,
    total: found.paths.length,
    async *entries(signal) {
      for (const path of found.paths) {
        signal?.throwIfAborted();
        yield createEntry(path);
      }
    },
    covers({ uri }) {
      if (found.kind === 'file') return uri === root;
      if (!uri.startsWith(root)) return false;
      const path = fileURLToPath(uri);
      return found.matches(path) && isDeletedBelow(found.root, path);
    },
    async ignores({ uri }) {
      if (found.filter === null || !uri.startsWith(root)) return false;
      const path = fileURLToPath(uri);
      if (!found.matches(path) || !isPresent(path)) return false;
      // Exclusion by the patterns of this run does not count.
      return (await findExclusion(found.filter, found.root, path)) === 'rules';
    },
  };
}

/** The URL of a directory ends in a slash, so that `docs/` does not cover `docs-old/`. */
function toRootUrl(path: string, kind: 'file' | 'directory'): string {
  const { href } = pathToFileURL(path);
  return kind === 'directory' && !href.endsWith('/') ? `${href}/` : href;
}

/**
 * Whether a file is deleted: a listing of `root` would have found it. False for files that listings skip (hidden,
 * node_modules, unsupported, behind a link or in an unreadable directory) and for existing files.
 */
function isDeletedBelow(root: string, path: string): boolean {
  if (!isInsideDirectory(root, path) || mediaTypeOfPath(path) === null || isPresent(path)) return false;
  if (hasSkippedName(path, root)) return false;

  let nearest = dirname(path);
  while (!existsSync(nearest) && isInsideDirectory(root, dirname(nearest))) nearest = dirname(nearest);
  try {
    accessSync(nearest, constants.R_OK | constants.X_OK);
    return realpathSync(nearest) === join(realpathSync(root), relative(root, nearest));
  } catch {
    return false;
  }
}

/** True for broken links too. */
function isPresent(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Whether a document still exists. Only files can be checked; all other URIs count as existing. */
export async function documentFileExists(uri: string): Promise<boolean> {
  if (!uri.startsWith('file:')) return true;
  return access(fileURLToPath(uri)).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT' && error.code !== 'ENOTDIR',
  );
}

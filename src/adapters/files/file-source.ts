import { accessSync, constants, existsSync, lstatSync, realpathSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { DocumentSource, SourceEntry } from '../../ports/loader.ts';
import { mediaTypeOf } from '../documents/media-type.ts';
import type { ChoiceOptions, FileChoice } from './choose-files.ts';
import { findFiles } from './find-files.ts';
import { readConsistently } from './read-consistently.ts';
import { isInside } from './walk-directory.ts';

export interface FileSourceOptions extends ChoiceOptions {
  /** Where relative paths and globs start. */
  cwd: string;
  /** The largest file that is read; default 50 MB. */
  maxBytes?: number;
  /** Whether a directory may hold nothing any more. */
  mayBeEmpty?: boolean;
  /** Hears what was left out, such as links that lead outside. */
  onNotice?: (notice: string) => void;
}

const DEFAULT_MAX_BYTES = 50 * 1024 * 1024;

/**
 * The documents of a file, a directory or a glob, sorted by path. The listing is made at once, so a path that
 * is missing or holds nothing usable throws `invalid_input` here; reading happens entry by entry.
 */
export async function createFileSource(
  argument: string,
  options: FileSourceOptions,
): Promise<DocumentSource> {
  const maxBytes = options.maxBytes ?? DEFAULT_MAX_BYTES;
  const found = await findFiles(argument, options);
  const root = directoryOrFileUrl(found.root, found.kind);

  function entryOf(path: string): SourceEntry {
    const uri = pathToFileURL(path).href;
    return {
      uri,
      root,
      relativePath: found.kind === 'file' ? basename(path) : below(found.root, path),
      async read(signal) {
        const bytes = await readConsistently(path, { maxBytes, ...(signal && { signal }) });
        return { uri, mediaType: mediaTypeOf(path) ?? 'text', bytes };
      },
    };
  }

  return {
    total: found.paths.length,
    async *entries(signal) {
      for (const path of found.paths) {
        signal?.throwIfAborted();
        yield entryOf(path);
      }
    },
    covers({ uri }) {
      if (found.kind === 'file') return uri === root;
      if (!uri.startsWith(root)) return false;
      const path = fileURLToPath(uri);
      return found.matches(path) && isMissingBelow(found.root, path);
    },
    async ignores({ uri }) {
      if (found.choice === null || !uri.startsWith(root)) return false;
      const path = fileURLToPath(uri);
      return found.matches(path) && isPresent(path) && isIgnored(found.root, path, found.choice);
    },
  };
}

/** A directory's URL ends in a slash, so that `docs/` never covers `docs-old/`. */
function directoryOrFileUrl(path: string, kind: 'file' | 'directory'): string {
  const { href } = pathToFileURL(path);
  return kind === 'directory' && !href.endsWith('/') ? `${href}/` : href;
}

function below(root: string, path: string): string {
  return relative(root, path).split(sep).join('/');
}

/**
 * Whether a file of rules leaves out a path, or a folder on the way to it. What the patterns of this run leave out is
 * another matter: they say what it is about.
 */
async function isIgnored(root: string, path: string, choice: FileChoice): Promise<boolean> {
  const names = relative(root, path).split(sep);
  for (const [index] of names.entries()) {
    const isFile = index === names.length - 1;
    const reason = await choice.leavesOut(join(root, ...names.slice(0, index + 1)), !isFile);
    if (reason !== null) return reason === 'rules';
  }
  return false;
}

/**
 * Whether a listing of `root` would have found this path, so that its absence means that the file is gone.
 * False for what listings pass over: hidden names, packages, other formats, anything behind a link or a closed
 * directory, and what is still there.
 */
function isMissingBelow(root: string, path: string): boolean {
  if (!isInside(root, path) || mediaTypeOf(path) === null || isPresent(path)) return false;
  const names = relative(root, path).split(sep);
  if (names.some((name) => name.startsWith('.') || name === 'node_modules')) return false;

  let nearest = dirname(path);
  while (!existsSync(nearest) && isInside(root, dirname(nearest))) nearest = dirname(nearest);
  try {
    accessSync(nearest, constants.R_OK | constants.X_OK);
    return realpathSync(nearest) === join(realpathSync(root), relative(root, nearest));
  } catch {
    return false;
  }
}

/** A link to nothing is present too. */
function isPresent(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Whether the document at this URI is still there. Only files can be looked up; anything else counts as there. */
export async function fileStillExists(uri: string): Promise<boolean> {
  if (!uri.startsWith('file:')) return true;
  return access(fileURLToPath(uri)).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT' && error.code !== 'ENOTDIR',
  );
}

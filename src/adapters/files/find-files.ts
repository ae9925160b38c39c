import { existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join, matchesGlob, parse, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AppError } from '../../faults/app-error.ts';
import { findNearestName } from '../../text/nearest-name.ts';
import { mediaTypeOfPath, SUPPORTED_EXTENSIONS } from '../documents/media-type.ts';
import { createFileFilter, type FileFilter, type FileFilterOptions } from './file-filter.ts';
import { explainMissingFile, systemErrorCode, toFileError } from './read-source-file.ts';
import { type SkippedFiles, walkDirectory } from './walk-directory.ts';

/** The files of an argument as sorted, unique, absolute paths. */
interface FoundFiles {
  kind: 'file' | 'directory';
  /** The file, the directory, or the part of a glob before its first wildcard. */
  root: string;
  paths: string[];
  /** Whether the argument matches a path below the root, whether it exists or not. */
  matches(path: string): boolean;
  /** Null for a single file. */
  filter: FileFilter | null;
}

const SUPPORTED_HINT = `Supported extensions: ${SUPPORTED_EXTENSIONS.join(', ')}.`;

export interface FindOptions extends FileFilterOptions {
  cwd: string;
  /** Whether a directory without documents is allowed. */
  mayBeEmpty?: boolean;
  /** Called for skipped files, such as links to the outside. */
  onNotice?: (notice: string) => void;
}

/** Lists a file, directory or glob. Throws `invalid_input` if there is no readable document. */
export async function findFiles(argument: string, options: FindOptions): Promise<FoundFiles> {
  const { cwd } = options;
  if (argument.trim() === '') throw new AppError('invalid_input', 'The path is empty.');
  const path = resolve(cwd, toPath(argument));
  const status = await statOrNull(path);
  // An existing file takes precedence over its name as a glob: `[draft].md`.
  if (status === null) return findGlob(argument, path, options);
  if (status.isDirectory()) {
    const found = await listDirectory(argument, path, options, () => true);
    if (found.paths.length === 0 && options.mayBeEmpty) return found;
    return requireFiles(found, `${argument} has no supported documents.`);
  }
  if (!status.isFile()) throw new AppError('invalid_input', `${argument} is neither a file nor a directory.`);
  if (mediaTypeOfPath(path) === null) {
    throw new AppError('invalid_input', `${basename(path)} has an unsupported format.`, {
      hint: SUPPORTED_HINT,
    });
  }
  return { kind: 'file', root: path, paths: [path], matches: (other) => other === path, filter: null };
}

async function findGlob(argument: string, path: string, options: FindOptions): Promise<FoundFiles> {
  const { cwd } = options;
  const pattern = process.platform === 'win32' ? argument.replaceAll('\\', '/') : argument;
  const segments = pattern.split('/');
  // A brace may be closed in a later segment.
  const firstWild = segments.findIndex((segment) => /[*?[{(]/.test(segment));
  if (firstWild < 0) throw await toMissingError(argument, path, cwd);
  const isAbsolute = segments[0] === '' && firstWild > 0;
  const root = resolve(cwd, isAbsolute ? '/' : '', ...segments.slice(0, firstWild));
  const wild = segments.slice(firstWild).join('/');
  const matches = (other: string) => matchesGlob(relative(root, other), wild);
  const message = `${argument} matches no document.`;
  if (!existsSync(root)) throw new AppError('invalid_input', message, { hint: SUPPORTED_HINT });
  return requireFiles(await listDirectory(argument, root, options, matches), message);
}

async function listDirectory(
  argument: string,
  root: string,
  options: FindOptions,
  matches: FoundFiles['matches'],
): Promise<FoundFiles> {
  const { onNotice } = options;
  const filter = await createFileFilter(root, options);
  const { paths, unreadable, skippedLinks, skipped } = await walkDirectory(root, filter, { matches });
  for (const path of unreadable) onNotice?.(`skipped ${path}: permission denied`);
  const links = skippedLinks === 1 ? '1 link' : `${skippedLinks} links`;
  if (skippedLinks > 0)
    onNotice?.(`skipped ${links} to files outside ${argument}; ingest the targets to include them`);
  noticeSkipped(skipped, onNotice);
  return { kind: 'directory', root, paths, matches, filter };
}

function requireFiles(found: FoundFiles, message: string): FoundFiles {
  if (found.paths.length === 0) throw new AppError('invalid_input', message, { hint: SUPPORTED_HINT });
  return { ...found, paths: [...new Set(found.paths)].sort(byCodeUnits) };
}

function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** `skipped 12 of other types: 11 .png, 1 .psd`, and the counts of ignored files. */
function noticeSkipped({ formats, rules, patterns }: SkippedFiles, onNotice: FindOptions['onNotice']): void {
  const total = [...formats.values()].reduce((sum, count) => sum + count, 0);
  const endings = [...formats].sort(([a, few], [b, many]) => many - few || byCodeUnits(a, b));
  const list = endings.map(([ending, count]) => `${count} ${ending || 'without extension'}`).join(', ');
  if (total > 0) onNotice?.(`skipped ${total} of other types: ${list}`);
  if (rules > 0) onNotice?.(`skipped ${rules} ignored by .gitignore or .citeloopignore`);
  if (patterns > 0) onNotice?.(`skipped ${patterns} excluded by the given patterns`);
}

async function toMissingError(argument: string, path: string, cwd: string): Promise<AppError> {
  const error = await explainMissingFile(path);
  if (error !== null) return error;
  const similar = await findSimilarPath(path, cwd);
  return new AppError('invalid_input', `${argument} does not exist.`, {
    hint: similar === null ? 'Check the path.' : `Did you mean ${similar}?`,
  });
}

function toPath(argument: string): string {
  if (!argument.startsWith('file:')) return argument;
  try {
    return fileURLToPath(argument);
  } catch (cause) {
    throw new AppError('invalid_input', `${argument} is not the URL of a local file.`, { cause });
  }
}

async function statOrNull(path: string) {
  try {
    return await stat(path);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ERR_INVALID_ARG_VALUE'].includes(systemErrorCode(error)))
      return null;
    throw toFileError(path, error);
  }
}

/** An existing path with a name like the first missing segment of `path`; null if there is none. */
async function findSimilarPath(path: string, cwd: string): Promise<string | null> {
  const directory = dirname(path);
  if (directory === path) return null;
  const siblings = await readdir(directory).catch(() => null);
  if (siblings === null) return findSimilarPath(directory, cwd);

  const stem = (name: string) => parse(name.toLowerCase()).name;
  // A name that differs only in its extension is preferred to one with a typing error.
  const best =
    siblings.find((each) => stem(each) === stem(path)) ?? findNearestName(basename(path), siblings);
  if (best === undefined) return null;
  const found = join(directory, best);
  const short = relative(cwd, found);
  return short.startsWith('..') ? found : short;
}

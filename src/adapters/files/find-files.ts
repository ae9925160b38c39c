import { realpath, stat } from 'node:fs/promises';
import { basename, matchesGlob, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AppError } from '../../domain/app-error.ts';
import { mediaTypeOf } from '../documents/media-type.ts';
import { codeOf, fileFault } from './file-fault.ts';
import { similarPath } from './similar-path.ts';
import { isInside, walkDirectory } from './walk-directory.ts';

/** The files that an argument names: absolute paths, sorted, each once. */
export interface FoundFiles {
  kind: 'file' | 'directory';
  /** The file itself, the directory, or the part of a glob before its first wildcard. */
  root: string;
  paths: string[];
  /** Whether the argument means such a path below the root, whether there is a file or not. */
  matches(path: string): boolean;
}

/** Named in messages; `mediaTypeOf` decides. */
const SUPPORTED_EXTENSIONS = '.md, .markdown, .mdx, .rst, .html, .htm, .txt, .text, .pdf';

type Notify = ((notice: string) => void) | undefined;

/** Lists a file, a directory or a glob. Throws `invalid_input` when nothing there can be read. */
export async function findFiles(argument: string, cwd: string, onNotice?: Notify): Promise<FoundFiles> {
  if (argument.trim() === '') throw new AppError('invalid_input', 'The path is empty.');
  const path = resolve(cwd, pathOf(argument));
  const status = await statOrNull(path);
  // What exists under that very name wins over what the name would match as a glob: `[draft].md`.
  if (status === null) return findGlob(argument, cwd, path, onNotice);
  if (status.isDirectory()) return findInDirectory(argument, path, onNotice);
  if (!status.isFile()) throw new AppError('invalid_input', `${argument} is neither a file nor a directory.`);
  if (mediaTypeOf(path) === null) {
    throw new AppError('invalid_input', `${basename(path)} has a format that is not supported.`, {
      hint: supportedHint(),
    });
  }
  return { kind: 'file', root: path, paths: [path], matches: (other) => other === path };
}

async function findInDirectory(argument: string, root: string, onNotice: Notify): Promise<FoundFiles> {
  const { paths, skippedLinks, unreadable } = await walkDirectory(root);
  for (const path of unreadable) onNotice?.(`skipped ${path}: permission denied`);
  noticeLinks(skippedLinks, argument, onNotice);
  return usable(
    { kind: 'directory', root, paths, matches: () => true },
    `${argument} holds no document that can be read.`,
  );
}

async function findGlob(argument: string, cwd: string, path: string, onNotice: Notify): Promise<FoundFiles> {
  const { glob, isDynamicPattern } = await import('tinyglobby');
  const pattern = process.platform === 'win32' ? argument.replaceAll('\\', '/') : argument;
  if (!isDynamicPattern(pattern)) throw await missing(argument, path, cwd);

  const segments = pattern.split('/');
  const firstWild = Math.max(segments.findIndex(isWild), 0);
  const isAbsolute = segments[0] === '' && firstWild > 0;
  const root = resolve(cwd, isAbsolute ? '/' : '', ...segments.slice(0, firstWild));
  const wild = segments.slice(firstWild).join('/');
  const matches = await glob(wild, {
    cwd: root,
    absolute: true,
    dot: false,
    onlyFiles: true,
    followSymbolicLinks: false,
    expandDirectories: false,
    ignore: ['**/node_modules/**', '**/.git/**'],
  });

  const kept = await insideOf(root, matches.map((match) => resolve(match)).filter(mediaTypeOf));
  noticeLinks(kept.skippedLinks, argument, onNotice);
  const found: FoundFiles = {
    kind: 'directory',
    root,
    paths: kept.paths,
    matches: (other) => matchesGlob(relative(root, other), wild),
  };
  return usable(found, `${argument} matches no document.`);
}

/** A part of a path that may be a wildcard; a brace may open in one part and close in a later one. */
function isWild(segment: string): boolean {
  return /[*?[{(]/.test(segment);
}

/** Drops links to directories and links that leave the root, as the walk of a directory does. */
async function insideOf(
  root: string,
  candidates: string[],
): Promise<{ paths: string[]; skippedLinks: number }> {
  const realRoot = await realpath(root).catch(() => root);
  const paths: string[] = [];
  let skippedLinks = 0;
  for (const path of candidates) {
    const real = await realpath(path).catch(() => null);
    const status = real === null ? null : await statOrNull(real);
    if (real !== null && !isInside(realRoot, real)) skippedLinks += 1;
    else if (status?.isFile() ?? true) paths.push(path);
  }
  return { paths, skippedLinks };
}

function usable(found: FoundFiles, otherwise: string): FoundFiles {
  if (found.paths.length === 0) throw new AppError('invalid_input', otherwise, { hint: supportedHint() });
  return { ...found, paths: [...new Set(found.paths)].sort(byCodeUnits) };
}

function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function noticeLinks(count: number, argument: string, onNotice: Notify): void {
  if (count === 0) return;
  const links = count === 1 ? '1 link that leads' : `${count} links that lead`;
  onNotice?.(`skipped ${links} outside ${argument}; name the target to include it`);
}

async function missing(argument: string, path: string, cwd: string): Promise<AppError> {
  const similar = await similarPath(path, cwd);
  const message = `${argument} does not exist.`;
  return new AppError('invalid_input', message, similar === null ? {} : { hint: `Did you mean ${similar}?` });
}

function supportedHint(): string {
  return `Supported extensions: ${SUPPORTED_EXTENSIONS}.`;
}

function pathOf(argument: string): string {
  if (!argument.startsWith('file:')) return argument;
  try {
    return fileURLToPath(argument);
  } catch (cause) {
    throw new AppError('invalid_input', `${argument} is not the URL of a file on this machine.`, { cause });
  }
}

async function statOrNull(path: string) {
  try {
    return await stat(path);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ERR_INVALID_ARG_VALUE'].includes(codeOf(error))) return null;
    throw fileFault(path, error);
  }
}

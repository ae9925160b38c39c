import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, matchesGlob, parse, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AppError } from '../../faults/app-error.ts';
import { nearestName } from '../../text/nearest-name.ts';
import { mediaTypeOf, SUPPORTED_EXTENSIONS } from '../documents/media-type.ts';
import { type ChoiceOptions, createFileChoice, type FileChoice } from './choose-files.ts';
import { codeOf, explainMissing, fileFault } from './read-consistently.ts';
import { countFormat, isInside, nothingSkipped, type SkippedFiles, walkDirectory } from './walk-directory.ts';

/** The files that an argument names: absolute paths, sorted, each once. */
interface FoundFiles {
  kind: 'file' | 'directory';
  /** The file itself, the directory, or the part of a glob before its first wildcard. */
  root: string;
  paths: string[];
  /** Whether the argument means such a path below the root, whether there is a file or not. */
  matches(path: string): boolean;
  /** Which of the files below the root were taken; null for a file that was named. */
  choice: FileChoice | null;
}

type Notify = ((notice: string) => void) | undefined;

interface FindOptions extends ChoiceOptions {
  cwd: string;
  /** Whether a directory may hold nothing any more. */
  mayBeEmpty?: boolean;
  /** Hears what was left out. */
  onNotice?: Notify;
}

/** Lists a file, a directory or a glob. Throws `invalid_input` when nothing there can be read. */
export async function findFiles(argument: string, options: FindOptions): Promise<FoundFiles> {
  const { cwd } = options;
  if (argument.trim() === '') throw new AppError('invalid_input', 'The path is empty.');
  const path = resolve(cwd, pathOf(argument));
  const status = await statOrNull(path);
  // What exists under that very name wins over what the name would match as a glob: `[draft].md`.
  if (status === null) return findGlob(argument, path, options);
  if (status.isDirectory()) return findInDirectory(argument, path, options);
  if (!status.isFile()) throw new AppError('invalid_input', `${argument} is neither a file nor a directory.`);
  if (mediaTypeOf(path) === null) {
    throw new AppError('invalid_input', `${basename(path)} has a format that is not supported.`, {
      hint: supportedHint(),
    });
  }
  return { kind: 'file', root: path, paths: [path], matches: (other) => other === path, choice: null };
}

async function findInDirectory(argument: string, root: string, options: FindOptions): Promise<FoundFiles> {
  const { onNotice } = options;
  const choice = await createFileChoice(root, options);
  const { paths, skippedLinks, unreadable, skipped } = await walkDirectory(root, choice);
  for (const path of unreadable) onNotice?.(`skipped ${path}: permission denied`);
  noticeLinks(skippedLinks, argument, onNotice);
  noticeSkipped(skipped, onNotice);
  const found: FoundFiles = { kind: 'directory', root, paths, matches: () => true, choice };
  if (paths.length === 0 && options.mayBeEmpty) return found;
  return usable(found, `${argument} holds no document that can be read.`);
}

async function findGlob(argument: string, path: string, options: FindOptions): Promise<FoundFiles> {
  const { cwd, onNotice } = options;
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

  const skipped = nothingSkipped();
  const choice = await createFileChoice(root, options);
  const candidates: string[] = [];
  for (const match of matches.map((each) => resolve(each))) {
    const reason = await choice.leavesOut(match, false);
    if (reason !== null) skipped[reason] += 1;
    else if (mediaTypeOf(match) === null) countFormat(skipped, match);
    else candidates.push(match);
  }
  const kept = await insideOf(root, candidates);
  noticeLinks(kept.skippedLinks, argument, onNotice);
  noticeSkipped(skipped, onNotice);
  const found: FoundFiles = {
    kind: 'directory',
    root,
    paths: kept.paths,
    matches: (other) => matchesGlob(relative(root, other), wild),
    choice,
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

/** `skipped 12: .docx 1, .png 11`, and how much rules and patterns leave out. */
function noticeSkipped({ formats, rules, patterns }: SkippedFiles, onNotice: Notify): void {
  const total = [...formats.values()].reduce((sum, count) => sum + count, 0);
  const endings = [...formats].sort(([a], [b]) => byCodeUnits(a, b));
  const list = endings.map(([ending, count]) => `${ending || 'no ending'} ${count}`).join(', ');
  if (total > 0) onNotice?.(`skipped ${total}: ${list}`);
  if (rules > 0) onNotice?.(`left out ${rules} by .gitignore or .citeloopignore`);
  if (patterns > 0) onNotice?.(`left out ${patterns} by the patterns given`);
}

async function missing(argument: string, path: string, cwd: string): Promise<AppError> {
  const fault = await explainMissing(path);
  if (fault !== null) return fault;
  const similar = await similarPath(path, cwd);
  const message = `${argument} does not exist.`;
  return new AppError('invalid_input', message, similar === null ? {} : { hint: `Did you mean ${similar}?` });
}

function supportedHint(): string {
  return `Supported extensions: ${SUPPORTED_EXTENSIONS.join(', ')}.`;
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

/**
 * A path that exists and that the person may have meant: the first missing part of `path` is compared with
 * what lies beside it. Null when nothing comes close.
 */
async function similarPath(path: string, cwd: string): Promise<string | null> {
  const directory = dirname(path);
  if (directory === path) return null;
  const siblings = await readdir(directory).catch(() => null);
  if (siblings === null) return similarPath(directory, cwd);

  const best = nearestPath(basename(path), siblings);
  if (best === undefined) return null;
  const found = join(directory, best);
  const way = relative(cwd, found);
  return way.startsWith('..') ? found : way;
}

/** A name that differs only in its extension is preferred to one with a typing error. */
function nearestPath(name: string, siblings: readonly string[]): string | undefined {
  const stem = (each: string) => parse(each.toLowerCase()).name;
  return siblings.find((each) => stem(each) === stem(name)) ?? nearestName(name, siblings);
}

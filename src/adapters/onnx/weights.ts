import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../../domain/app-error.ts';
import type { FetchWeightsOptions } from './fetch-weights.ts';

export const MODEL_NAME = 'all-MiniLM-L6-v2';
export const MODEL_REVISION = '751bff37182d3f1213fa05d7196b954e230abad9';

/** The files of the model with their SHA-256; wherever they came from, nothing else is loaded. */
export const MODEL_FILES = {
  'onnx/model_quantized.onnx': 'afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1',
  'tokenizer.json': 'da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0',
  'tokenizer_config.json': '9261e7d79b44c8195c1cada2b453e55b00aeb81e907a6664974b4d7776172ab3',
  'config.json': '7135149f7cffa1a573466c6e4d8423ed73b62fd2332c575bf738a0d033f70df7',
} as const;

export type ModelFile = keyof typeof MODEL_FILES;

/** Where the weights lie: a copy of the user's, which is never written to, or the cache, which is filled on first use. */
export interface WeightsLocation {
  directory: string;
  fetchable: boolean;
}

export function weightsLocation(cacheDirectory: string, modelDirectory: string | undefined): WeightsLocation {
  return modelDirectory === undefined
    ? {
        directory: join(cacheDirectory, 'models', `${MODEL_NAME}-${MODEL_REVISION.slice(0, 8)}`),
        fetchable: true,
      }
    : { directory: modelDirectory, fetchable: false };
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

/** Sees to it that all files are there, fetching them where that is allowed. What they hold is checked when they are read. */
export async function ensureModel(location: WeightsLocation, fetching: FetchWeightsOptions): Promise<void> {
  const { directory, fetchable } = location;
  if (modelFiles().every((file) => existsSync(join(directory, file)))) return;
  if (!fetchable) {
    throw new AppError('configuration_error', `CITELOOP_MODEL_DIR (${directory}) does not hold the model.`, {
      hint: `It must hold ${modelFiles().join(', ')} of Xenova/${MODEL_NAME}.`,
    });
  }
  const { fetchWeights } = await import('./fetch-weights.ts');
  await fetchWeights(directory, fetching);
}

export function modelFiles(): ModelFile[] {
  return Object.keys(MODEL_FILES) as ModelFile[];
}

export function isModelFile(file: ModelFile, bytes: Uint8Array): boolean {
  return createHash('sha256').update(bytes).digest('hex') === MODEL_FILES[file];
}

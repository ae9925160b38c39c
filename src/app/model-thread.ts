import { findOnnxEngine } from '../adapters/onnx/engine.ts';
import { createModelThreads } from '../adapters/onnx/model-threads.ts';
import { resolveModelLocation } from '../adapters/onnx/weights.ts';
import { defaultModelDirectories } from '../config/directories.ts';

/** Shared by all apps of this process, so that a model is loaded once. */
export const modelThreads = createModelThreads();

/**
 * Runs `work` with the worker of the embedding model started first, so that both load at the same time. Imports as
 * little as possible, because it is the first module that is loaded.
 */
export async function withModelThread<T>(work: () => Promise<T>): Promise<T> {
  const { cache, modelDir } = defaultModelDirectories();
  modelThreads.prestart(findOnnxEngine(resolveModelLocation(cache, modelDir)));
  try {
    return await work();
  } finally {
    await modelThreads.stopIfIdle();
  }
}

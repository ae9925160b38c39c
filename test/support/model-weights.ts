import { type ModelLocation, weightsLocation } from '../../src/adapters/onnx/weights.ts';
import { defaultDirectories } from '../../src/config/directories.ts';

/** The weights in the real user's cache: tests share them, and the program fetches them if they are not there. */
export function modelLocation(): ModelLocation {
  return weightsLocation(defaultDirectories(process.env, process.platform).cache, undefined);
}

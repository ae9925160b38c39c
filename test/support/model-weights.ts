import { type ModelLocation, resolveModelLocation } from '../../src/adapters/onnx/weights.ts';
import { defaultDirectories } from '../../src/config/directories.ts';

/** The weights in the cache of the user who runs the tests, so that they are downloaded once. */
export function modelLocation(): ModelLocation {
  return resolveModelLocation(defaultDirectories(process.env, process.platform).cache, undefined);
}

import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { AppError } from '../../faults/app-error.ts';
import type { DownloadOptions } from './fetch-package.ts';
import type { ModelLocation } from './weights.ts';

const VERSION = '1.30.0';

/** Not a dependency, because its install script downloads files that are not used; only its library is taken. */
const NPM_PACKAGE = {
  name: `onnxruntime-node@${VERSION}`,
  bytes: 113_507_888,
  integrity:
    'sha512-twhs1C2C/BFkz1yc5OY0KIU2GUq6DURO7hD4bx5Q2Qy3nAMJwRXW8xU3NVczE29VA9lolLOYepoD8fjTGOfIqw==',
};

const PLATFORM = `${process.platform}/${process.arch}`;
const FOLDER = `onnxruntime-${VERSION}-${process.platform}-${process.arch}`;

/** The Node addon; the library that it loads is in the same directory. */
export const BINDING_FILE = 'onnxruntime_binding.node';

const WINDOWS_FILES = ['DirectML.dll', 'dxcompiler.dll', 'dxil.dll', 'onnxruntime.dll', BINDING_FILE];

const FILES_BY_PLATFORM: Readonly<Record<string, readonly string[]>> = {
  'linux/x64': ['libonnxruntime.so.1', BINDING_FILE],
  'linux/arm64': ['libonnxruntime.so.1', BINDING_FILE],
  'darwin/arm64': ['libonnxruntime.1.dylib', BINDING_FILE],
  'win32/x64': WINDOWS_FILES,
  'win32/arm64': WINDOWS_FILES,
};

/** The directory of ONNX Runtime: beside the weights, in the cache, or installed by npm. Null if there is none. */
export function findOnnxEngine({ directory, cache }: ModelLocation): string | null {
  const directories = [directory, cache].map((parent) => join(parent, FOLDER));
  return directories.find(isComplete) ?? findInstalledPackage();
}

/** An `onnxruntime-node` of exactly our version: another one may compute other vectors. */
function findInstalledPackage(): string | null {
  try {
    const manifest = createRequire(import.meta.url).resolve('onnxruntime-node/package.json');
    const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version?: unknown };
    const directory = join(dirname(manifest), 'bin', 'napi-v6', process.platform, process.arch);
    return version === VERSION && isComplete(directory) ? directory : null;
  } catch {
    return null;
  }
}

function isComplete(directory: string): boolean {
  const files = FILES_BY_PLATFORM[PLATFORM] ?? [];
  return files.length > 0 && files.every((file) => existsSync(join(directory, file)));
}

/** The directory of ONNX Runtime, downloaded into the cache if it is not on this machine. */
export async function ensureOnnxEngine(
  location: ModelLocation,
  options: DownloadOptions = {},
): Promise<string> {
  return findOnnxEngine(location) ?? (await downloadEngine(join(location.cache, FOLDER), options));
}

/** Checks the hash of the archive before anything is stored. */
async function downloadEngine(directory: string, options: DownloadOptions): Promise<string> {
  const files = FILES_BY_PLATFORM[PLATFORM];
  if (files === undefined) {
    throw new AppError('configuration_error', `The built-in embedder does not run on ${PLATFORM}.`, {
      hint: `Use a hosted embedder. It runs on ${Object.keys(FILES_BY_PLATFORM).join(', ')}.`,
    });
  }
  const { downloadFailure, downloadPackageFiles, storeFiles } = await import('./fetch-package.ts');
  const folder = `package/bin/napi-v6/${PLATFORM}`;
  const contents = await downloadPackageFiles(NPM_PACKAGE, folder, files, options).catch((error: unknown) => {
    options.signal?.throwIfAborted();
    throw new AppError(
      'configuration_error',
      `ONNX Runtime could not be downloaded (npm: ${downloadFailure(error)}).`,
      {
        hint: `Check the connection, install ${NPM_PACKAGE.name} beside citeloop, or set CITELOOP_MODEL_DIR to a copy of the model with ${FOLDER} in it.`,
        recoverable: true,
        cause: error,
      },
    );
  });
  await storeFiles(directory, contents, { name: 'ONNX Runtime', megabytes: 100 });
  return directory;
}

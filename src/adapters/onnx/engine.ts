import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../../faults/app-error.ts';
import type { DownloadOptions } from './fetch-package.ts';
import { checkOnce, type ModelLocation } from './weights.ts';

const VERSION = '1.30.0';

/** Not a dependency, because its install script downloads files that are not used; only its library is taken. */
const NPM_PACKAGE = { name: `onnxruntime-node@${VERSION}`, bytes: 113_507_888 };

const PLATFORM = `${process.platform}/${process.arch}`;
const ENGINE_NAME = `onnxruntime-${VERSION}-${process.platform}-${process.arch}`;

/** The Node addon; the library that it loads is in the same directory. */
export const BINDING_FILE = 'onnxruntime_binding.node';

/** The files of each platform with their SHA-256. Other files are never loaded. */
const FILES_BY_PLATFORM: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'linux/x64': {
    'libonnxruntime.so.1': 'ffb75a925ba05e47b235bb66e3e3911714a80b328a9c9425539feb204aa32a23',
    [BINDING_FILE]: 'ccdc60b981d93a490cf9513d3f583547252b6e285b72988a96a494f2f006c7b8',
  },
  'linux/arm64': {
    'libonnxruntime.so.1': '1f549d46250b005580b597f4164984aaf75b3bcb9f3aeb07c7f8a8fe60b23c76',
    [BINDING_FILE]: 'afec78dc11d38dc81605b068cefe1fc73ffe77ca240c15468aa40786150beac8',
  },
  'darwin/arm64': {
    'libonnxruntime.1.dylib': '685d2be5dba1309c89d3a5324b7fd06a5c42f1a61bfea32d14c4cc28d072121d',
    [BINDING_FILE]: 'a3f993357759b06ae2411f70af60f5e041d04521ea7f0d12cb7546e411a527dd',
  },
  'win32/x64': {
    'DirectML.dll': '234e8898778cdec88d3cb0539508273494082812c968699f3de665a018971625',
    'dxcompiler.dll': '593d42df78c7f9cbd97c1374af107cfe20985759f98b77afc1448fe41ee3cc76',
    'dxil.dll': 'cf9a3981263f8ec30c9905d136eeaf4b4573209c602198671b958ec86905dea8',
    'onnxruntime.dll': '508c362f5673483dd3a086379c392795b2e42d10d5e6f3f90ebd7ac21c97af67',
    [BINDING_FILE]: 'ddd428464069b84414d34ec1796c7c2a69c33a976e4b0390692629e394f92fa1',
  },
  'win32/arm64': {
    'DirectML.dll': 'aaf72a9d55aa123e0708d957d30dd4fbeb7a2e335ec6257ed5ff4261a402b9ee',
    'dxcompiler.dll': '442a995492579e1048cf1f05a86ab00f476c46b7f9d0996e588884040a543bbe',
    'dxil.dll': '859b6d638c5ca3df39e9cab2a602cb0f63d0e63d750f84bb2a9ec9031319b73e',
    'onnxruntime.dll': '6c3a2abf5c6aca11c48a0d338a91af309f2266f25ce2e4084e6a87bbcb0fbfd0',
    [BINDING_FILE]: 'd8179924f15c2d3c1c8a75c50adf1671ec28c7f1cb0da9fc28b17daa02c5ecf5',
  },
};
const FILE_HASHES = FILES_BY_PLATFORM[PLATFORM] ?? {};
const ENGINE_FILES = Object.keys(FILE_HASHES);

/** Files that nothing loads: hidden ones, unfinished downloads, a copy of the library, and those for a GPU. */
const UNUSED_FILES = /^\.|\.partial$|^libonnxruntime(?:_providers_\w+\.so|\.[\d.]+\.dylib)$/;

/** A directory with the files of ONNX Runtime. */
export interface EngineLocation {
  directory: string;
  /** In the user's cache, where a marker beside it says which files were checked. Elsewhere they are always checked. */
  isCached: boolean;
}

/** ONNX Runtime beside the weights or in the cache. Null if there is none. */
export function findOnnxEngine({ directory, cache }: ModelLocation): EngineLocation | null {
  const found = [directory, cache].map((parent) => join(parent, ENGINE_NAME)).find(isComplete);
  return found === undefined ? null : { directory: found, isCached: found === join(cache, ENGINE_NAME) };
}

function isComplete(directory: string): boolean {
  return ENGINE_FILES.length > 0 && ENGINE_FILES.every((file) => existsSync(join(directory, file)));
}

/**
 * Throws unless the directory holds exactly the known files. The loader looks into it first for every library that
 * ONNX Runtime needs, so an unknown file may be loaded as well.
 */
export function assertGenuineEngine({ directory, isCached }: EngineLocation): void {
  const unknown = readdirSync(directory).find(
    (file) => FILE_HASHES[file] === undefined && !UNUSED_FILES.test(file),
  );
  if (unknown !== undefined) throw new Error(`${unknown} is not one of its files`);
  const paths = ENGINE_FILES.map((file) => join(directory, file));
  checkOnce(isCached ? `${directory}.checked` : null, paths, () => {
    for (const [file, expected] of Object.entries(FILE_HASHES)) {
      if (hash('sha256', readFileSync(join(directory, file))) !== expected)
        throw new Error(`the SHA-256 of ${file} is not the expected one`);
    }
  });
}

/** ONNX Runtime, downloaded into the cache if it is not on this machine. */
export async function ensureOnnxEngine(
  location: ModelLocation,
  options: DownloadOptions = {},
): Promise<EngineLocation> {
  return findOnnxEngine(location) ?? (await downloadEngine(join(location.cache, ENGINE_NAME), options));
}

/** Checks the files before anything is stored. */
async function downloadEngine(directory: string, options: DownloadOptions): Promise<EngineLocation> {
  if (ENGINE_FILES.length === 0) {
    throw new AppError('configuration_error', `The built-in embedder does not run on ${PLATFORM}.`, {
      hint: `Use a hosted embedder. It runs on ${Object.keys(FILES_BY_PLATFORM).join(', ')}.`,
    });
  }
  const { assertHashes, downloadFailure, downloadPackageFiles, storeFiles } = await import(
    './fetch-package.ts'
  );
  const folder = `package/bin/napi-v6/${PLATFORM}`;
  try {
    const contents = await downloadPackageFiles(NPM_PACKAGE, folder, ENGINE_FILES, options);
    assertHashes(contents, FILE_HASHES);
    await storeFiles(directory, contents, { name: 'ONNX Runtime', megabytes: 100 });
    return { directory, isCached: true };
  } catch (error) {
    options.signal?.throwIfAborted();
    if (error instanceof AppError) throw error;
    throw new AppError(
      'configuration_error',
      `ONNX Runtime could not be downloaded (npm: ${downloadFailure(error)}).`,
      {
        hint: `Check the connection, or set CITELOOP_MODEL_DIR to a copy of the model with ${ENGINE_NAME} in it.`,
        recoverable: true,
        cause: error,
      },
    );
  }
}

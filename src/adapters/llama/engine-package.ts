import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { AppError } from '../../faults/app-error.ts';

const PACKAGE = 'node-llama-cpp';
/** What it is tried with. Later ones of the same minor version mend; others may have other grammars and methods. */
export const ENGINE_VERSION = '3.22.1';
const KNOWN = /^3\.22\./;

/** The package with the library, by platform and processor. */
const LIBRARIES: Readonly<Record<string, string>> = {
  'linux/x64': 'linux-x64',
  'linux/arm64': 'linux-arm64',
  'linux/arm': 'linux-armv7l',
  'linux/riscv64': 'linux-riscv64',
  'darwin/arm64': 'mac-arm64-metal',
  'darwin/x64': 'mac-x64',
  'win32/x64': 'win-x64',
  'win32/arm64': 'win-arm64',
};

export interface EngineLocation {
  /** The directory of the package. */
  directory: string;
  version: string;
}

/**
 * The engine that is installed beside this program, as a project does that wants one of its own, or else the one in its
 * own directory. Code is never taken from the directory that someone happens to work in.
 */
export function findEngine(engineDirectory: string): EngineLocation | null {
  const beside = createRequire(import.meta.url).resolve.paths(PACKAGE) ?? [];
  for (const place of [...beside, join(engineDirectory, 'node_modules')]) {
    const directory = join(place, PACKAGE);
    const manifest = join(directory, 'package.json');
    if (!existsSync(manifest)) continue;
    const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version?: unknown };
    return { directory, version: String(version) };
  }
  return null;
}

/** Whether it has the grammars and the methods that are used here. */
export function isKnownVersion(version: string): boolean {
  return KNOWN.test(version);
}

/**
 * The command that installs the engine for a platform: one library, and neither those for graphics cards, which are
 * large, nor scripts. In a directory of its own, since to leave out what is optional holds for a whole installation.
 * Null where there is no library for it.
 */
export function installCommand(
  engineDirectory: string,
  platform: NodeJS.Platform = process.platform,
  arch: string = process.arch,
): string | null {
  const library = LIBRARIES[`${platform}/${arch}`];
  if (library === undefined) return null;
  const place = /^[\w./:\\-]+$/.test(engineDirectory) ? engineDirectory : JSON.stringify(engineDirectory);
  const packages = `${PACKAGE}@${ENGINE_VERSION} @node-llama-cpp/${library}@${ENGINE_VERSION}`;
  return `npm i --prefix ${place} ${packages} --omit=optional --ignore-scripts`;
}

/** What to do where the engine is missing, or is another one. */
export function installAdvice(
  engineDirectory: string,
  platform: NodeJS.Platform = process.platform,
  arch: string = process.arch,
): string {
  const command = installCommand(engineDirectory, platform, arch);
  return command === null
    ? `There is no build of it for ${platform}/${arch}: use a model on a server.`
    : `Install it once: ${command}`;
}

/** The engine, or the sentence that says how one comes by it. */
export function requireEngine(engineDirectory: string): EngineLocation {
  const found = findEngine(engineDirectory);
  if (found === null) {
    throw new AppError(
      'configuration_error',
      `A model in a GGUF file is run by ${PACKAGE} ${ENGINE_VERSION}, which is not installed.`,
      { hint: installAdvice(engineDirectory) },
    );
  }
  if (!isKnownVersion(found.version)) {
    throw new AppError(
      'configuration_error',
      `The ${PACKAGE} in ${found.directory} is of version ${found.version}, and this program knows ${ENGINE_VERSION}.`,
      { hint: installAdvice(engineDirectory) },
    );
  }
  return found;
}

import { existsSync, statSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { AppError, messageOf } from '../../faults/app-error.ts';
import { nearestName } from '../../text/nearest-name.ts';

/** A file of the models directory. */
export interface ModelFile {
  /** Its path below the directory, as it is named. */
  name: string;
  path: string;
}

const ENDING = /\.gguf$/i;
/** A model in several files is loaded by its first. */
const LATER_PART = /-(?!00001)\d{5}-of-\d{5}\.gguf$/i;
/** Other programs keep a model as publisher/model/file. */
const DEEPEST = 3;

/** The models in a directory and the folders in it, by name. None where there is no such directory. */
export async function listModelFiles(directory: string): Promise<ModelFile[]> {
  const files = await filesBelow(directory, DEEPEST);
  return files
    .filter((path) => ENDING.test(path) && !LATER_PART.test(path))
    .map((path) => ({ name: relative(directory, path).replaceAll(sep, '/'), path }))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

/** How many bytes a model has, in all its parts. */
export async function modelBytes(path: string, parts: number): Promise<number> {
  let bytes = 0;
  for (let part = 1; part <= parts; part++) {
    const file = path.replace(/00001(?=-of-\d{5}\.gguf$)/i, String(part).padStart(5, '0'));
    const found = await stat(file).catch(() => null);
    if (found === null) {
      throw new AppError(
        'configuration_error',
        `${path} is the first of ${parts} files, and ${file} is missing.`,
        {
          hint: 'Put all of them into the same directory.',
        },
      );
    }
    bytes += found.size;
  }
  return bytes;
}

async function filesBelow(directory: string, depth: number): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw new AppError('configuration_error', `${directory} cannot be read (${messageOf(error)}).`, {
      hint: 'Check its permissions, or set CITELOOP_GGUF_DIR to a directory with models.',
      cause: error,
    });
  });
  const found: string[] = [];
  for (const entry of entries) {
    const path = join(directory, entry.name);
    if (!entry.isDirectory()) found.push(path);
    else if (depth > 1) found.push(...(await filesBelow(path, depth - 1)));
  }
  return found;
}

/**
 * The file that a model's name means: a path that ends in .gguf, or a file of the directory by its name, with or without
 * that ending. Null for a name that can only be a service's. Throws `configuration_error` for a file that is not there.
 */
export async function findModelFile(
  model: string,
  { directory, cwd = process.cwd() }: { directory: string; cwd?: string },
): Promise<string | null> {
  const isPath = ENDING.test(model);
  const path = pathOf(model, cwd);
  if (isPath && existsSync(path)) return path;
  const known = await listModelFiles(directory);
  const named = known.find(({ name }) => name === model || name.replace(ENDING, '') === model);
  if (named !== undefined) return named.path;
  if (!isPath) return null;
  const names = known.map(({ name }) => name);
  const nearest = nearestModel(model, names);
  throw new AppError(
    'configuration_error',
    `There is no model file ${model}, nor one of that name in ${directory}.`,
    {
      hint:
        nearest !== undefined
          ? `Did you mean ${nearest}?`
          : names.length > 0
            ? `There is: ${names.join(', ')}.`
            : 'Name the path of a GGUF file, or put it there.',
    },
  );
}

function pathOf(model: string, cwd = process.cwd()): string {
  return resolve(cwd, model.replace(/^~(?=[\\/])/, homedir()));
}

/** Whether a name can only be a path: no service has a model that is called so. */
export function isPlainlyPath(model: string): boolean {
  return /^(\.{1,2}|~)[\\/]/.test(model) || isAbsolute(model);
}

/** Whether a name is that of a file, which a model of a service may be by chance. */
export function namesFile(model: string): boolean {
  return statSync(pathOf(model), { throwIfNoEntry: false })?.isFile() ?? false;
}

/** What is wrong with a path that does not end as models do. */
export function noModelFile(model: string): AppError {
  return existsSync(pathOf(model))
    ? new AppError('configuration_error', `${model} is not a GGUF file: their names end in .gguf.`, {
        hint: 'Name one that is, or a model by its name.',
      })
    : new AppError('configuration_error', `There is no model file ${model}.`, {
        hint: 'Name the path of a GGUF file, or a model by its name.',
      });
}

/** The file of the models directory whose name was probably meant. */
export async function nearestModelFile(model: string, directory: string): Promise<string | undefined> {
  const known = await listModelFiles(directory).catch(() => []);
  return nearestModel(
    model,
    known.map(({ name }) => name),
  );
}

/** By the whole of a name, or by the words that it begins with: few people type how a model is stored. */
function nearestModel(model: string, names: readonly string[]): string | undefined {
  const typed = model.replace(ENDING, '');
  const beginnings = new Map<string, string>();
  for (const name of names) {
    const stem = basename(name).replace(ENDING, '');
    for (const { index } of stem.matchAll(/[-_.]|$/g)) {
      const beginning = stem.slice(0, index);
      if (!beginnings.has(beginning)) beginnings.set(beginning, name);
    }
  }
  return nearestName(model, names) ?? beginnings.get(nearestName(typed, [...beginnings.keys()]) ?? '');
}

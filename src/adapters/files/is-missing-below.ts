import { accessSync, constants, existsSync, lstatSync, realpathSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { mediaTypeOf } from '../documents/media-type.ts';
import { isInside } from './walk-directory.ts';

/**
 * Whether a listing of `root` would have found this path, so that its absence means that the file is gone.
 * False for what listings pass over: hidden names, packages, other formats, anything behind a link or a closed
 * directory, and what is still there.
 */
export function isMissingBelow(root: string, path: string): boolean {
  if (!isInside(root, path) || mediaTypeOf(path) === null || isPresent(path)) return false;
  const names = relative(root, path).split(sep);
  if (names.some((name) => name.startsWith('.') || name === 'node_modules')) return false;

  let nearest = dirname(path);
  while (!existsSync(nearest) && isInside(root, dirname(nearest))) nearest = dirname(nearest);
  try {
    accessSync(nearest, constants.R_OK | constants.X_OK);
    return realpathSync(nearest) === join(realpathSync(root), relative(root, nearest));
  } catch {
    return false;
  }
}

/** A link to nothing is present too. */
function isPresent(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

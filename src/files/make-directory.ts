import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates a directory with its parents. The recursive `mkdir` of Node never returns below a directory that refuses new
 * entries with ENOENT, such as /proc.
 */
export function makeDirectory(path: string): void {
  const isDirectory = () => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  if (isDirectory()) return;
  const parent = dirname(path);
  if (parent !== path && !existsSync(parent)) makeDirectory(parent);
  try {
    mkdirSync(path);
  } catch (error) {
    // Another process may have created it.
    if (!isDirectory()) throw error;
  }
}

import { existsSync, statSync, watch } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { AppError, messageOf } from '../../faults/app-error.ts';

/** Editors write a file in several steps, so changes are reported after this much quiet. */
const QUIET_MS = 300;

/** Yields after each burst of changes below the sources, starting with the call. Ends when the signal is aborted. */
export function watchSources(
  sources: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<void, void, undefined> {
  let changes = 0;
  let wake = () => {};
  const watchers = watchedDirectories(sources).map((directory) => {
    try {
      return watch(directory, { recursive: true, signal }, () => {
        changes += 1;
        wake();
      }).on('error', () => {});
    } catch (error) {
      throw new AppError('invalid_input', `Cannot watch ${directory}: ${messageOf(error)}.`, {
        hint: 'Give a smaller directory, or omit --watch.',
        cause: error,
      });
    }
  });
  return changeBursts();

  async function* changeBursts(): AsyncGenerator<void, void, undefined> {
    const stop = () => wake();
    signal.addEventListener('abort', stop);
    try {
      while (!signal.aborted) {
        if (changes === 0) {
          await new Promise<void>((awake) => {
            wake = awake;
          });
          continue;
        }
        let seen = 0;
        while (seen !== changes && !signal.aborted) {
          seen = changes;
          await delay(QUIET_MS);
        }
        changes = 0;
        if (!signal.aborted) yield;
      }
    } finally {
      signal.removeEventListener('abort', stop);
      for (const watcher of watchers) watcher.close();
    }
  }
}

/** The directory itself, that of a file, or the part of a glob before its first wildcard. */
export function watchedDirectories(sources: readonly string[]): string[] {
  const found = sources
    .filter((source) => !/^https?:/i.test(source))
    .map((source) => {
      const path = resolve(source);
      if (existsSync(path)) return statSync(path).isDirectory() ? path : dirname(path);
      const parts = path.split('/');
      const fixed = parts
        .slice(
          0,
          parts.findIndex((part) => /[*?[{!]/.test(part)),
        )
        .join('/');
      return existsSync(fixed) ? fixed : dirname(path);
    });
  return [...new Set(found)];
}

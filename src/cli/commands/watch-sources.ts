import { existsSync, statSync, watch } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { AppError, messageOf } from '../../faults/app-error.ts';

/** Editors write a file in several steps: what changed is looked at when nothing has for so long. */
const QUIET_MS = 300;

/**
 * Says each time that something below the sources has changed and come to rest, from when it is called. Ends when the
 * signal is raised.
 */
export function changesOf(
  sources: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<void, void, undefined> {
  let changes = 0;
  let wake = () => {};
  const watchers = directoriesOf(sources).map((directory) => {
    try {
      return watch(directory, { recursive: true, signal }, () => {
        changes += 1;
        wake();
      }).on('error', () => {});
    } catch (error) {
      throw new AppError('invalid_input', `${directory} cannot be watched: ${messageOf(error)}.`, {
        hint: 'Name a smaller directory, or leave out --watch.',
        cause: error,
      });
    }
  });
  return told();

  async function* told(): AsyncGenerator<void, void, undefined> {
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

/** What to look at: a directory itself, the one that a file is in, or the part of a glob before its first star. */
export function directoriesOf(sources: readonly string[]): string[] {
  const found = sources
    .filter((source) => !/^https?:/i.test(source))
    .map((source) => {
      const path = resolve(source);
      if (existsSync(path)) return statSync(path).isDirectory() ? path : dirname(path);
      const fixed = path.split('/').slice(
        0,
        path.split('/').findIndex((part) => /[*?[{!]/.test(part)),
      );
      return existsSync(fixed.join('/')) ? fixed.join('/') : dirname(path);
    });
  return [...new Set(found)];
}

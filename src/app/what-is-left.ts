import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { fileStillExists } from '../adapters/files/file-source.ts';
import { placeBelow } from '../domain/place.ts';
import { advice, command } from '../faults/advice.ts';
import { AppError } from '../faults/app-error.ts';
import { counted } from '../text/phrasing.ts';
import type { App } from './create-app.ts';

const MOST_NAMED = 3;

/** What a collection still has of a path that holds nothing to be read. */
export interface WhatIsLeft {
  /** The documents whose files are gone, each by its path below what was ingested. */
  gone: string[];
  /** Whether the path itself is still there. */
  isThere: boolean;
}

interface Where {
  collection: string;
  path: string;
  cwd: string;
}

export async function whatIsLeft(
  { catalog }: Pick<App, 'catalog'>,
  { collection, path, cwd }: Where,
): Promise<WhatIsLeft> {
  const whole = resolve(cwd, path);
  const isThere = existsSync(whole);
  if (!(await catalog.list()).includes(collection)) return { gone: [], isThere };
  const { href } = pathToFileURL(whole);
  const store = await catalog.open(collection);
  const documents = await Array.fromAsync(store?.documents() ?? []).finally(() => store?.close());
  const gone: string[] = [];
  for (const { uri, root } of documents) {
    const isBelow = `${uri}/`.startsWith(`${href}/`);
    if (isBelow && !(await fileStillExists(uri))) gone.push(decodeURI(placeBelow(root, uri)));
  }
  return { gone, isThere };
}

/** Why nothing can be read at a path, with what the collection still has of it and how it is made to forget that. */
export function tellWhatIsLeft(
  failure: unknown,
  { gone, isThere }: WhatIsLeft,
  { collection, path }: Where,
): unknown {
  if (!(failure instanceof AppError) || gone.length === 0) return failure;
  const given = /\s/.test(path) ? JSON.stringify(path) : path;
  const them = gone.length === 1 ? 'it' : 'them';
  if (!isThere) {
    return new AppError(
      failure.kind,
      `${failure.message} ${collection} still has ${counted(gone.length, 'document')} from there.`,
      {
        hint: advice`If it was moved, ingest it where it is now; else make the collection forget ${them}${command(`collections remove ${collection} ${given}`)}`,
        cause: failure,
      },
    );
  }
  const more = gone.length > MOST_NAMED ? ` and ${gone.length - MOST_NAMED} more` : '';
  return new AppError(
    failure.kind,
    `${failure.message} ${gone.length} gone: ${gone.slice(0, MOST_NAMED).join(', ')}${more}.`,
    {
      hint: advice`Make the collection forget ${them}${command(`ingest ${given} --prune`, { collection })}`,
      cause: failure,
    },
  );
}

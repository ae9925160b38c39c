import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { placeBelow } from '../domain/place.ts';
import { advice, command } from '../faults/advice.ts';
import { AppError } from '../faults/app-error.ts';
import { fileIsGone } from '../retrieval/file-is-gone.ts';
import type { App } from './create-app.ts';

const MOST_NAMED = 3;

/** Why nothing can be read at a path, with the documents that a collection has from there and whose files are gone. */
export async function nameWhatIsGone(
  failure: unknown,
  { catalog }: Pick<App, 'catalog'>,
  { collection, path, cwd }: { collection: string; path: string; cwd: string },
): Promise<unknown> {
  if (!(failure instanceof AppError) || !(await catalog.list()).includes(collection)) return failure;
  const { href } = pathToFileURL(resolve(cwd, path));
  const store = await catalog.open(collection);
  const documents = await Array.fromAsync(store?.documents() ?? []).finally(() => store?.close());
  const gone = documents
    .filter((document) => `${document.uri}/`.startsWith(`${href}/`) && fileIsGone(document))
    .map(({ root, uri }) => decodeURI(placeBelow(root, uri)));
  const [first] = gone;
  if (first === undefined) return failure;
  const more = gone.length > MOST_NAMED ? ` and ${gone.length - MOST_NAMED} more` : '';
  return new AppError(
    failure.kind,
    `${failure.message} ${gone.length} gone: ${gone.slice(0, MOST_NAMED).join(', ')}${more}.`,
    {
      hint: advice`The collection still has what is gone. Make it forget one${command(`collections remove ${collection} ${JSON.stringify(first)}`)}`,
      cause: failure,
    },
  );
}

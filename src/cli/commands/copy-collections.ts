import type { App, StoreKind } from '../../app/create-app.ts';
import { STORES } from '../../domain/choices.ts';
import { AppError } from '../../faults/app-error.ts';
import { copyCollection } from '../../ingest/copy-collection.ts';
import type { CommonFlags } from '../flags/common-flags.ts';
import { createProgressBar } from '../terminal/progress.ts';
import { createTerminal } from '../terminal/terminal.ts';
import { unknownCollection } from './collections.ts';
import { withApp } from './with-app.ts';

export interface CopyFlags extends CommonFlags {
  from?: string | undefined;
  to?: string | undefined;
  prune?: boolean | undefined;
}

interface Place {
  store: StoreKind;
  name: string;
}

export function copyCollections({ from: source = '', to: target = '', ...flags }: CopyFlags): Promise<void> {
  return withApp(
    {
      flags,
      whenInterrupted: 'What was copied so far is kept; the same command goes on from there.',
    },
    async (app, { signal }) => {
      const [from, to] = [placeOf(source, app), placeOf(target, app)];
      if (from.store === to.store && from.name === to.name) {
        throw new AppError('invalid_input', `${shown(from)} cannot be copied onto itself.`);
      }
      const summary = await copy(app, from, to, flags.prune ?? false, signal);
      if (flags.json) {
        process.stdout.write(`${JSON.stringify({ from: shown(from), to: shown(to), ...summary })}\n`);
        return;
      }
      const terminal = createTerminal(process.stdout);
      const counts = (['copied', 'unchanged', 'removed'] as const)
        .filter((kind) => summary[kind] > 0)
        .map((kind) => `${summary[kind]} ${kind}`);
      terminal.write(
        `${terminal.text(shown(to), 'bold')}: ${counts.join(', ') || 'nothing to do'}; ` +
          `${summary.chunks} chunks written, none embedded\n`,
      );
      if (summary.kept > 0) {
        terminal.write(`It has ${summary.kept} more documents than the source; --prune removes them.\n`);
      }
    },
  );
}

async function copy(app: App, from: Place, to: Place, prune: boolean, signal: AbortSignal) {
  const source = await app.catalogOf(from.store).open(from.name);
  if (source === null) {
    throw unknownCollection(shown(from), await app.catalogOf(from.store).list());
  }
  const progress = createProgressBar(`Copying ${from.name}`);
  try {
    const target = await app.catalogOf(to.store).openOrCreate(to.name, source.identity);
    try {
      return await copyCollection(source, target, {
        prune,
        signal,
        onProgress: ({ documents, totalDocuments, chunks }) =>
          progress.update({ done: documents, total: totalDocuments, note: `${chunks} chunks` }),
      });
    } finally {
      await target.close();
    }
  } finally {
    progress.clear();
    await source.close();
  }
}

/** `qdrant:name`, or a name in the configured store. */
function placeOf(text: string, app: App): Place {
  const store = STORES.find((known) => text.startsWith(`${known}:`));
  const name = store === undefined ? text : text.slice(store.length + 1);
  if (!/^\w[\w.-]{0,127}$/.test(name)) {
    throw new AppError('invalid_input', `"${text}" is not the name of a collection.`, {
      hint: 'Write for example web_documents, sqlite:web_documents or qdrant:web_documents.',
    });
  }
  return { store: store ?? app.config.store, name };
}

function shown({ store, name }: Place): string {
  return `${store}:${name}`;
}

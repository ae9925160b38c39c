import { AppError } from '../domain/app-error.ts';
import type { ChunkStore, CollectionInfo } from '../ports/chunk-store.ts';
import type { App } from '../wire.ts';
import type { CollectionFlags } from './collections.ts';
import { confirmed } from './confirmed.ts';
import { table } from './table.ts';
import { createTerminal } from './terminal.ts';
import { type CommonFlags, withApp } from './with-app.ts';

export function listCollections(flags: CommonFlags): Promise<void> {
  return withApp(flags, async (app) => {
    const infos: CollectionInfo[] = [];
    for (const name of await app.catalog.list()) {
      // One that cannot be read must not hide the others; `doctor` says what is wrong with it.
      const info = await withStore(app, name, (store) => store.info()).catch((error: unknown) => {
        if (!(error instanceof AppError)) throw error;
        process.stderr.write(`${name}: ${error.message}\n`);
        return null;
      });
      if (info !== null) infos.push(info);
    }
    if (flags.json) return void process.stdout.write(`${JSON.stringify({ collections: infos })}\n`);
    const terminal = createTerminal(process.stdout);
    if (infos.length === 0) {
      return terminal.write('There are no collections yet. Make one with: citeloop ingest <path>\n');
    }
    const rows = infos.map((info) => [
      info.name,
      String(info.documents),
      String(info.chunks),
      megabytes(info.bytes),
      info.updatedAt.slice(0, 16).replace('T', ' '),
      info.embedder,
    ]);
    terminal.write(
      table(terminal, ['name', 'documents', 'chunks', 'size', 'updated (UTC)', 'embedder'], rows),
    );
  });
}

export function showCollection(flags: CollectionFlags): Promise<void> {
  return withApp(flags, (app) =>
    withStore(app, flags.name ?? '', async (store) => {
      const info = await store.info();
      const documents = [];
      for await (const { url, title, module, chapter } of store.documents())
        documents.push({ url, title, module, chapter });
      if (flags.json)
        return void process.stdout.write(`${JSON.stringify({ ...info, documentList: documents })}\n`);
      const terminal = createTerminal(process.stdout);
      terminal.write(
        `${terminal.text(info.name, 'bold')}: ${info.documents} documents, ${info.chunks} chunks, `,
      );
      terminal.write(`${megabytes(info.bytes)}\n`);
      terminal.write(`embedder ${info.embedder}, ${info.dimensions} dimensions\n`);
      terminal.write(`made ${info.createdAt}, updated ${info.updatedAt}\n\n`);
      if (info.modules.length > 0) {
        const rows = info.modules.map(({ name, chunks }) => [name, String(chunks)]);
        terminal.write(`${table(terminal, ['module', 'chunks'], rows)}\n`);
      }
      terminal.write(
        table(
          terminal,
          ['document', 'module', 'url'],
          documents.map(({ title, module, url }) => [title, module ?? '', url]),
        ),
      );
    }),
  );
}

export function deleteCollection(flags: CollectionFlags): Promise<void> {
  return withApp(flags, async (app) => {
    const name = flags.name ?? '';
    if (!(await app.catalog.list()).includes(name)) throw unknownCollection(name, await app.catalog.list());
    if (flags.yes !== true && !(await confirmed(`Delete the collection "${name}" for good?`))) {
      process.stderr.write('Nothing was deleted.\n');
      return;
    }
    await app.catalog.delete(name);
    if (flags.json) process.stdout.write(`${JSON.stringify({ deleted: name })}\n`);
    else process.stdout.write(`Deleted ${name}.\n`);
  });
}

async function withStore<T>(app: App, name: string, work: (store: ChunkStore) => Promise<T>): Promise<T> {
  const names = await app.catalog.list();
  const store = names.includes(name) ? await app.catalog.open(name) : null;
  if (store === null) throw unknownCollection(name, names);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

function unknownCollection(name: string, names: readonly string[]): AppError {
  return new AppError('invalid_input', `There is no collection "${name}".`, {
    hint: names.length > 0 ? `There is: ${names.join(', ')}.` : 'Make one with: citeloop ingest <path>',
  });
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

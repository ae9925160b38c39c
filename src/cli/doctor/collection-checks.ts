import { AppError } from '../../domain/app-error.ts';
import type { App } from '../../wire.ts';
import { type Check, check } from './check.ts';

/** Each collection of the configured store: is it whole, and made with the configured embedder? */
export async function collectionChecks(app: App): Promise<Check[]> {
  let names: string[] = [];
  const listed = await check('store', async () => {
    names = await app.catalog.list();
    const { store, qdrant } = app.config;
    const where = store === 'qdrant' ? `Qdrant at ${new URL(qdrant.url).host}` : 'SQLite files';
    return `${where}, ${names.length} ${names.length === 1 ? 'collection' : 'collections'}`;
  });
  const checks = [listed];
  for (const name of names) checks.push(await check(`collection ${name}`, () => collection(app, name)));
  return checks;
}

async function collection(app: App, name: string): Promise<string> {
  const store = await app.catalog.open(name);
  if (store === null) return 'empty';
  try {
    const problems = await store.check();
    if (problems.length > 0) {
      throw new AppError('retrieval_error', problems.join(' '), {
        hint: `Restore it from a backup, or \`citeloop collections delete ${name}\` and ingest again.`,
      });
    }
    const { documents, chunks } = await store.info();
    const facts = `${documents} documents, ${chunks} chunks, sound`;
    const isReadable = await app.assertReadable(store).then(
      () => true,
      () => false,
    );
    // Not a fault: whoever has several embedders has collections of each.
    return isReadable ? facts : `${facts}; made with the embedder ${store.identity.embedder}`;
  } finally {
    await store.close();
  }
}

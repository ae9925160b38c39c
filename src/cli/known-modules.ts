import { AppError } from '../domain/app-error.ts';
import type { ChunkStore } from '../ports/chunk-store.ts';

/** Throws `invalid_input` for a module that the collection does not have, with those it has. */
export async function assertKnownModules(store: ChunkStore, modules: readonly string[]): Promise<void> {
  for (const module of modules) {
    if ((await store.count({ module: [module] })) > 0) continue;
    const { modules: known } = await store.info();
    throw new AppError('invalid_input', `Collection "${store.name}" has no module "${module}".`, {
      hint:
        known.length > 0
          ? `It has: ${known.map(({ name }) => name).join(', ')}.`
          : 'Its documents have no modules.',
    });
  }
}

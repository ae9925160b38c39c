import { ensureOnnxEngine } from '../../src/adapters/onnx/engine.ts';
import { createMiniLmEmbedder, MINILM_DESCRIPTION } from '../../src/adapters/onnx/minilm-embedder.ts';
import { readOnnxDirectory } from '../../src/adapters/onnx/onnx-directory.ts';
import { createOnnxEmbedder } from '../../src/adapters/onnx/onnx-embedder.ts';
import { type ModelLocation, resolveModelLocation } from '../../src/adapters/onnx/weights.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import type { CollectionIdentity } from '../../src/domain/collection-identity.ts';
import type { ChunkStore, CollectionCatalog } from '../../src/ports/chunk-store.ts';
import type { Embedder } from '../../src/ports/embedder.ts';

export const MINILM_IDENTITY: CollectionIdentity = {
  embedder: MINILM_DESCRIPTION.id,
  dimensions: MINILM_DESCRIPTION.dimensions,
};

/** The weights that the program uses. */
export function findProgramWeights(): ModelLocation {
  const { cache, modelDir } = loadConfig();
  return resolveModelLocation(cache, modelDir);
}

/** Opens the collection of a set for this embedder: each embedder has one. */
export function openCollectionFor(
  catalog: CollectionCatalog,
  name: string,
  { id, dimensions }: Pick<Embedder, 'id' | 'dimensions'>,
): Promise<ChunkStore> {
  return catalog.openOrCreate(formatCollectionName(name, id), { embedder: id, dimensions });
}

export function formatCollectionName(name: string, embedderId: string): string {
  return embedderId === MINILM_DESCRIPTION.id ? name : `${name}-${embedderId.replace(/\W+/g, '-')}`;
}

/** Loads a model by the value of `--embedder`: `onnx:<directory>`. */
export async function loadNamedEmbedder(named: string): Promise<Embedder> {
  const { cache, modelDir, embedding } = loadConfig({ flags: { embedder: named } });
  const encoder = await readOnnxDirectory(embedding.directory ?? '');
  const engine = await ensureOnnxEngine(resolveModelLocation(cache, modelDir));
  return createOnnxEmbedder(encoder, { engine, bulk: true });
}

/** Loads the program's default embedder. */
export function loadDefaultEmbedder(): Promise<Embedder> {
  return createMiniLmEmbedder({ location: findProgramWeights(), bulk: true });
}

import { createMiniLmEmbedder, MINILM } from '../../src/adapters/onnx/minilm-embedder.ts';
import { type ModelLocation, weightsLocation } from '../../src/adapters/onnx/weights.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import type { CollectionIdentity } from '../../src/domain/collection-identity.ts';
import type { Embedder } from '../../src/ports/embedder.ts';
import type { TokenEncoder } from '../../src/ports/token-encoder.ts';

export const IDENTITY: CollectionIdentity = { embedder: MINILM.id, dimensions: MINILM.dimensions };

/** Where the program itself finds its weights. */
export function programWeights(): ModelLocation {
  const { cache, modelDir } = loadConfig();
  return weightsLocation(cache, modelDir);
}

/** The program's embedder. */
export function loadEmbedder(): Promise<Embedder & TokenEncoder> {
  return createMiniLmEmbedder({ location: programWeights(), bulk: true });
}

import type { Argv, Options } from 'yargs';
import { EMBEDDERS, PROVIDERS, QUANTIZATIONS, STORES } from '../domain/choices.ts';

const storeOptions = {
  store: {
    choices: STORES,
    describe: 'In files, or on a server (if QDRANT_URL is set)',
    requiresArg: true,
  },
  'qdrant-url': { type: 'string', describe: 'The Qdrant server (http://127.0.0.1:6333)', requiresArg: true },
  'payload-map': {
    type: 'string',
    describe: "Others' field names: text=body,url=link",
    requiresArg: true,
  },
  embedder: {
    choices: EMBEDDERS,
    describe: 'What makes the vectors (minilm, on this machine)',
    requiresArg: true,
  },
  'embedding-model': { type: 'string', describe: 'The model of a hosted embedder', requiresArg: true },
  'embedding-base-url': {
    type: 'string',
    describe: 'An OpenAI-compatible embedding server',
    requiresArg: true,
  },
  'embedding-dimensions': {
    type: 'number',
    describe: 'Shorter vectors, where the model can',
    requiresArg: true,
  },
} as const satisfies Record<string, Options>;

const rerankOptions = {
  rerank: { type: 'boolean', describe: 'Reorder hits by Cohere (COHERE_API_KEY)' },
  'rerank-model': { type: 'string', describe: 'The reranker (the newest on offer)', requiresArg: true },
} as const satisfies Record<string, Options>;

const newCollectionOptions = {
  'qdrant-shards': { type: 'number', describe: 'Parts of a new Qdrant collection', requiresArg: true },
  'qdrant-replicas': { type: 'number', describe: 'Copies of each part on a cluster', requiresArg: true },
  'qdrant-quantization': {
    choices: QUANTIZATIONS,
    describe: 'int8: a quarter of the memory (none)',
    requiresArg: true,
  },
} as const satisfies Record<string, Options>;

const providerOptions = {
  provider: {
    choices: PROVIDERS,
    describe: 'A service by its name, instead of --base-url',
    requiresArg: true,
  },
} as const satisfies Record<string, Options>;

const GROUPS = {
  store: storeOptions,
  rerank: rerankOptions,
  newCollection: newCollectionOptions,
  provider: providerOptions,
};

/** Adds the flags that say which services are used, under a heading of their own. */
export function withServiceFlags<T>(yargs: Argv<T>, ...groups: (keyof typeof GROUPS)[]): Argv<T> {
  const options: Record<string, Options> = Object.assign({}, ...groups.map((group) => GROUPS[group]));
  return (
    yargs
      .options(options)
      // Headings come in the order they are first named: what is needed most stands first.
      .group([], 'Positionals:')
      .group('help', 'Options:')
      .group(Object.keys(options), 'Services (see docs/services.md):') as Argv<T>
  );
}

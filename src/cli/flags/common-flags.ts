import type { Argv, Options } from 'yargs';
import { EMBEDDERS, JUDGE, OWN_MODEL, PROVIDERS, QUANTIZATIONS, STORES } from '../../domain/choices.ts';

/** Flags that every command has. */
export interface CommonFlags {
  collection?: string | undefined;
  config?: string | undefined;
  json?: boolean | undefined;
  verbose?: boolean | undefined;
}

export const commonOptions = {
  collection: { type: 'string', describe: 'The collection to use', requiresArg: true },
  config: {
    type: 'string',
    describe: 'A config file instead of ./citeloop.config.json',
    requiresArg: true,
  },
  json: { type: 'boolean', describe: 'Print JSON for programs' },
  verbose: { type: 'boolean', describe: 'Say more about what happens and goes wrong' },
} as const satisfies Record<string, Options>;

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
    type: 'string',
    describe: `What makes the vectors: ${EMBEDDERS.join(', ')} or ${OWN_MODEL}<directory> (minilm)`,
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
  rerank: {
    type: 'string',
    describe: `Reorder hits by Cohere (COHERE_API_KEY), by ${JUDGE}, or by ${OWN_MODEL}<directory>`,
  },
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
export function withServiceFlags(yargs: Argv, ...groups: (keyof typeof GROUPS)[]): Argv {
  const options: Record<string, Options> = Object.assign({}, ...groups.map((group) => GROUPS[group]));
  return (
    yargs
      .options(options)
      // Headings come in the order they are first named: what is needed most stands first.
      .group([], 'Positionals:')
      .group('help', 'Options:')
      .group(Object.keys(options), 'Services (see docs/services.md):')
  );
}

/** Flags of every command whose run can be recorded and replayed. */
export interface TapeFlags {
  record?: string | undefined;
  replay?: string | undefined;
  redact?: string[] | undefined;
  onMiss?: 'fail' | 'passthrough' | 'record' | undefined;
  timing?: 'none' | 'recorded' | undefined;
}

export const replayOptions = {
  'on-miss': {
    choices: ['fail', 'passthrough', 'record'],
    describe: 'What is not on the tape: exit with 7, ask the service, or that and renew the tape (fail)',
    requiresArg: true,
  },
  timing: {
    choices: ['none', 'recorded'],
    describe: 'Answer at once, or as slowly as the service did (none)',
    requiresArg: true,
  },
} as const satisfies Record<string, Options>;

export const redactOption = {
  redact: {
    type: 'string',
    array: true,
    nargs: 1,
    describe: 'A regular expression for what else must not be on the tape; may be repeated',
  },
} as const satisfies Record<string, Options>;

const tapeOptions = {
  record: {
    type: 'string',
    describe: 'Record every call to a service in this file',
    requiresArg: true,
    conflicts: 'replay',
  },
  replay: {
    type: 'string',
    describe: 'Answer every call from this tape, without a key and without a network',
    requiresArg: true,
  },
  ...redactOption,
  ...replayOptions,
} as const satisfies Record<string, Options>;

/** The command with the flags of tapes, in a group of their own. */
export function withTapeFlags(yargs: Argv): Argv {
  return yargs.options(tapeOptions).group(Object.keys(tapeOptions), 'Tapes:');
}

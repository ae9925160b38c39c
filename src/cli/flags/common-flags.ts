import {
  EMBEDDER_NAMES,
  ONNX_PREFIX,
  QDRANT_QUANTIZATIONS,
  RERANKERS,
  STORE_KINDS,
} from '../../domain/setting-choices.ts';
import type { OptionDefinition } from './command-definition.ts';

type OptionDefinitions = Readonly<Record<string, OptionDefinition>>;

export interface CommonFlags
  extends FlagValues<'collection' | 'config', string>,
    Switches<'json' | 'verbose' | 'trust'> {}

/** Flags that yargs sets only if they are given. */
export type FlagValues<Name extends string, Value> = { [Flag in Name]?: Value | undefined };
export type Switches<Name extends string> = FlagValues<Name, boolean>;

export const GLOBAL_GROUP = 'Global options';

export const globalOptions = {
  collection: { alias: 'c', describe: 'Collection to use, or several as a,b', group: GLOBAL_GROUP },
  config: {
    value: 'path',
    describe: 'Config file (default ./citeloop.config.json)',
    group: GLOBAL_GROUP,
    isAdvanced: true,
  },
  json: { type: 'boolean', describe: 'Print JSON', group: GLOBAL_GROUP },
  trust: {
    type: 'boolean',
    describe: 'Trust the project files that need it',
    group: GLOBAL_GROUP,
    isAdvanced: true,
  },
  verbose: { type: 'boolean', describe: 'Print details and error stacks', group: GLOBAL_GROUP },
  help: { type: 'boolean', alias: 'h', describe: 'Print help', group: GLOBAL_GROUP },
  version: { type: 'boolean', alias: 'V', describe: 'Print the version', group: GLOBAL_GROUP },
} as const satisfies OptionDefinitions;

const SERVICE_OPTIONS = {
  store: {
    store: { choices: STORE_KINDS, describe: 'Vector store (default sqlite; qdrant if QDRANT_URL is set)' },
    'qdrant-url': { value: 'url', describe: 'Qdrant server (default http://127.0.0.1:6333)' },
    'payload-map': { value: 'fields', describe: 'Field names in Qdrant, e.g. text=body,url=link' },
    embedder: {
      describe: `Embedder: ${EMBEDDER_NAMES.join(', ')} or ${ONNX_PREFIX}<directory> (default minilm)`,
    },
    'embedding-model': { describe: 'Model of a hosted embedder' },
    'embedding-base-url': { value: 'url', describe: 'OpenAI-compatible embedding server' },
    'embedding-dimensions': { type: 'number', describe: 'Vector length, if the model supports it' },
  },
  rerank: {
    rerank: {
      value: 'name',
      describe: `Rerank by ${RERANKERS.join(', ')} or ${ONNX_PREFIX}<directory> (default: words)`,
    },
    'rerank-model': { describe: 'Rerank model (default with Cohere: newest)' },
    'rerank-base-url': { value: 'url', describe: 'Server with a /rerank endpoint (Jina, Voyage)' },
  },
  newCollection: {
    'qdrant-shards': { type: 'number', describe: 'Shards of a new Qdrant collection' },
    'qdrant-replicas': { type: 'number', describe: 'Replicas of a new Qdrant collection' },
    'qdrant-quantization': {
      choices: QDRANT_QUANTIZATIONS,
      describe: 'Quantization of a new Qdrant collection (default none)',
    },
  },
} as const satisfies Record<string, OptionDefinitions>;

export function serviceOptions(...kinds: (keyof typeof SERVICE_OPTIONS)[]): OptionDefinitions {
  return withGroup('Services', Object.assign({}, ...kinds.map((kind) => SERVICE_OPTIONS[kind])));
}

/** Options that the short help leaves out. */
export function withGroup(group: string, options: OptionDefinitions): OptionDefinitions {
  return Object.fromEntries(
    Object.entries(options).map(([name, option]) => [name, { ...option, group, isAdvanced: true }]),
  );
}

/** Flags of the commands whose runs can be recorded and replayed. */
export interface TapeFlags extends FlagValues<'record' | 'replay', string> {
  redact?: string[] | undefined;
  onMiss?: 'fail' | 'passthrough' | 'record' | undefined;
  timing?: 'none' | 'recorded' | undefined;
}

export const replayOptions = {
  'on-miss': {
    choices: ['fail', 'passthrough', 'record'],
    describe: 'Handling of requests not on the tape (default fail)',
  },
  timing: { choices: ['none', 'recorded'], describe: 'Replay at once or at recorded speed (default none)' },
} as const satisfies OptionDefinitions;

export const redactOption = {
  redact: { value: 'regexp', array: true, describe: 'Remove matching text from the tape' },
} as const satisfies OptionDefinitions;

export const tapeOptions = withGroup('Tapes', {
  record: { value: 'tape', describe: 'Record all service calls to this file', conflicts: 'replay' },
  replay: { value: 'tape', describe: 'Answer all service calls from this file' },
  ...redactOption,
  ...replayOptions,
});

import type { Model, Tool } from '@openai/agents-core';
import type * as z from 'zod';
import type { Agent, AgentSession, AskOptions } from './agent/agent.ts';
import { waitForTurn } from './agent/wait-for-turn.ts';
import { createApp } from './app/create-app.ts';
import { openLibraryAgent } from './app/open-library-agent.ts';
import { withPlaceholderKeys } from './app/run-settings.ts';
import { createTelemetry, type TelemetryOptions } from './app/telemetry.ts';
import { throwUnknownSetting } from './config/collect-settings.ts';
import { loadConfig, type SettingValue } from './config/load-config.ts';
import { secretVariables, settingNames } from './config/settings.ts';
import type { AgentConfig } from './domain/agent-config.ts';
import type { AgentResponse } from './domain/agent-response.ts';
import type { Filter } from './domain/query.ts';
import type { RetrievalContext } from './domain/retrieval-context.ts';
import type { SearchMode } from './domain/setting-choices.ts';
import { AppError } from './faults/app-error.ts';
import type { IngestOptions, IngestSummary } from './ingest/ingest.ts';
import type { ChunkStore } from './ports/chunk-store.ts';
import type { Embedder } from './ports/embedder.ts';
import type { Runtime } from './ports/runtime.ts';
import type { SessionStore } from './ports/session-store.ts';
import type { RetrieveFunction } from './retrieval/function-retriever.ts';

export { type Model, type Tool, tool } from '@openai/agents-core';
export type { Agent, AgentSession, AskOptions, StartSessionOptions } from './agent/agent.ts';
export { compare, type EvaluatedArm, type EvaluateOptions, evaluate } from './app/evaluate-arms.ts';
export type { TelemetryOptions } from './app/telemetry.ts';
export type { AgentConfig, RetrievalPolicy } from './domain/agent-config.ts';
export type { AgentResponse, AnswerOutcome, FinishReason, TokensUsed } from './domain/agent-response.ts';
export type { CheckedSentence } from './domain/checked-sentence.ts';
export type { Citation, Verdict } from './domain/citation.ts';
export type { CollectionIdentity } from './domain/collection-identity.ts';
export type { ConversationMessage } from './domain/conversation-message.ts';
export type { ConversationSession } from './domain/conversation-session.ts';
export type { ConversationTurn, LedgerEntry } from './domain/conversation-turn.ts';
export type { Filter } from './domain/query.ts';
export type { RetrievalContext } from './domain/retrieval-context.ts';
export type { RetrievedChunk } from './domain/retrieved-chunk.ts';
export type { RunEvent } from './domain/run-event.ts';
export type { SearchMode } from './domain/setting-choices.ts';
export type { EvaluationCase } from './evaluation/cases/evaluation-case.ts';
export type { ReportData } from './evaluation/report/report-data.ts';
export type { ArmAnswer, ArmFunction } from './evaluation/run/function-arm.ts';
export { AppError, type ErrorKind } from './faults/app-error.ts';
export { type ErrorResponse, toErrorResponse } from './faults/error-response.ts';
export type { IngestProgress, IngestSummary } from './ingest/ingest.ts';
export type {
  ChunkRecord,
  ChunkStore,
  ChunkVectors,
  ChunkWords,
  CollectionInfo,
  DocumentRecord,
  DocumentWrite,
  StoredChunk,
  StoreHit,
  StoreSearchRequest,
  UnembeddedChunk,
  WeightedWords,
  WordScores,
} from './ports/chunk-store.ts';
export type { Embedder, TextEmbedding } from './ports/embedder.ts';
export type { Runtime } from './ports/runtime.ts';
export type { RecordedTurn, SessionStore, SessionSummary } from './ports/session-store.ts';
export type { Passage, RetrieveFunction } from './retrieval/function-retriever.ts';

/** Settings of services, with the meaning of the flags and environment variables of the same name. */
export type ServiceOptions = {
  [Name in
    | 'provider'
    | 'qdrantUrl'
    | 'payloadMap'
    | 'embeddingModel'
    | 'embeddingBaseUrl'
    | 'embeddingDimensions'
    | 'rerank'
    | 'rerankModel'
    | 'rerankBaseUrl'
    | 'check'
    | 'cohereBaseUrl']?: SettingValue<Name>;
};

/** Keys of services by name; without one, the environment variable such as `OPENAI_API_KEY` counts. */
export type ApiKeys = {
  [Name in (typeof secretVariables)[keyof typeof secretVariables] as Name extends `${infer Service}ApiKey`
    ? Service
    : never]?: string;
};

export interface CreateAgentOptions<Output extends z.ZodObject = z.ZodObject>
  extends Partial<Omit<AgentConfig, 'model'>>,
    ServiceOptions {
  /** The name of a model, or a model object of the Agents SDK. */
  model?: string | Model;
  /** What answers and sessions call a model object; default: the name of its class. */
  modelName?: string;
  apiKeys?: ApiKeys;
  /** Tools of the Agents SDK for the model, beside the search. */
  tools?: readonly Tool[];
  /** A zod object schema: the model answers with such an object, and `ask` returns it as `output`. */
  output?: Output;
  /** Returns passages for a query; replaces the collection. */
  retriever?: RetrieveFunction;
  /** The data directory for collections and sessions; default as for the command line. */
  home?: string;
  /** How the collection is searched; default `hybrid`. */
  mode?: SearchMode;
  /** The tracing of the Agents SDK, with the processors that you set; off by default. */
  tracing?: boolean;
  /** OpenTelemetry spans for the registered tracer provider; `{ content: true }` adds texts. Off by default. */
  telemetry?: boolean | TelemetryOptions;
  /** The kind of store, or a store object to use instead of the configured collection. */
  store?: SettingValue<'store'> | ChunkStore;
  /** The embedder, or an embedder object: the one that created the vectors of your store. */
  embedder?: SettingValue<'embedder'> | Embedder;
  /** Replaces the session store of the data directory. */
  sessions?: SessionStore;
  /** The clock and ids, such as those of a tape. */
  runtime?: Runtime;
}

export interface SearchOptions {
  /** 1 to 100; default: the setting `topK`, or 5. */
  topK?: number;
  filter?: Filter;
  signal?: AbortSignal;
}

export interface IngestDocumentsOptions extends Partial<Omit<IngestOptions, 'formatAdvice'>> {
  /** Gitignore-style patterns of files to read; default: all supported formats. */
  include?: readonly string[];
  exclude?: readonly string[];
}

export interface CiteloopAgent<Output = unknown> extends Agent {
  /** Asks one question, in a new session unless one is given. Throws an AppError if there is no answer. */
  ask(
    question: string,
    options?: AskOptions & { session?: AgentSession },
  ): Promise<AgentResponse & { output?: Output }>;
  /** Searches without a model. */
  search(query: string, options?: SearchOptions): Promise<RetrievalContext>;
  /** Brings the collection up to date with files, directories and web pages; creates it if needed. */
  ingest(sources: string | readonly string[], options?: IngestDocumentsOptions): Promise<IngestSummary>;
  /** Stops running turns and closes what `createAgent` opened. Later calls throw `invalid_input`. */
  close(): Promise<void>;
}

/** The options that are not settings. */
const OWN_OPTIONS = [
  'modelName',
  'apiKeys',
  'tools',
  'output',
  'retriever',
  'mode',
  'tracing',
  'telemetry',
  'sessions',
  'runtime',
] as const;

/**
 * Creates an agent on a collection. Options take precedence over the environment and config files. Throws
 * `invalid_input` for an unknown option. A collection that does not exist is reported by the first question or search.
 */
export async function createAgent<Output extends z.ZodObject = z.ZodObject>(
  options: CreateAgentOptions<Output> = {},
): Promise<CiteloopAgent<z.infer<Output>>> {
  if (process.getBuiltinModule?.('node:sqlite') === undefined) {
    const message = `citeloop needs Node 22.18 or newer; this is Node ${process.versions.node}.`;
    throw new AppError('configuration_error', message, { hint: 'Install a newer Node.' });
  }
  const known = [...settingNames, ...OWN_OPTIONS];
  for (const name of Object.keys(options)) {
    if (!known.some((each) => each === name))
      throwUnknownSetting(name, 'Unknown option', 'invalid_input', known);
  }
  const { model, store, embedder, runtime, ...others } = options;
  const settings = Object.fromEntries(
    settingNames.map((name) => [name, others[name as keyof typeof others]]),
  );
  const loaded = loadConfig({
    options: {
      ...settings,
      model: typeof model === 'object' ? (options.modelName ?? nameOfModel(model)) : model,
      store: typeof store === 'object' ? undefined : store,
      embedder: typeof embedder === 'object' ? undefined : embedder,
    },
    keys: toVariables(options.apiKeys),
  });
  const config = runtime?.needsKeys === false ? withPlaceholderKeys(loaded) : loaded;
  const { telemetry = false } = options;
  const app = createApp(config, {
    ...(typeof embedder === 'object' && { embedder }),
    telemetry: telemetry
      ? await createTelemetry(telemetry === true ? config.telemetry : telemetry)
      : undefined,
  });
  const agent = await openLibraryAgent(app, {
    ...others,
    runtime,
    model: typeof model === 'object' ? model : undefined,
    store: typeof store === 'object' ? store : undefined,
  });
  return {
    ...agent,
    async ask(question, { session, ...askOptions } = {}) {
      const { response } = await waitForTurn(
        (session ?? (await agent.startSession())).ask(question, askOptions),
      );
      return response as AgentResponse & { output?: z.infer<Output> };
    },
  };
}

/** The class of a model object; object literals have none. */
function nameOfModel({ constructor: { name } }: Model): string {
  return name === 'Object' || name === '' ? 'custom' : name;
}

/** Keys as the environment variables that they replace. Throws `invalid_input` for an unknown name. */
function toVariables(keys: ApiKeys = {}): Record<string, string> {
  const variables = new Map<string, string>(
    Object.entries(secretVariables).map(([variable, name]) => [name.replace('ApiKey', ''), variable]),
  );
  return Object.fromEntries(
    Object.entries(keys).flatMap(([name, key]) => {
      const variable = variables.get(name);
      if (variable === undefined)
        return throwUnknownSetting(name, 'Unknown name in apiKeys', 'invalid_input', [...variables.keys()]);
      return key === undefined ? [] : [[variable, key]];
    }),
  );
}

import type { Model, Tool } from '@openai/agents-core';
import type { ZodObject } from 'zod';
import { type Agent, type AgentSession, READ_SOURCE_TOOL } from '../agent/agent.ts';
import { createRetryablePromise } from '../async/retryable-promise.ts';
import { createQuery, type Filter } from '../domain/query.ts';
import type { RetrievalContext } from '../domain/retrieval-context.ts';
import { OFFLINE_MODEL, type SearchMode } from '../domain/setting-choices.ts';
import { advice, withSetting } from '../faults/advice.ts';
import { AppError } from '../faults/app-error.ts';
import type { IngestOptions, IngestSummary } from '../ingest/ingest.ts';
import type { ChunkStore } from '../ports/chunk-store.ts';
import type { Runtime } from '../ports/runtime.ts';
import type { SessionStore } from '../ports/session-store.ts';
import type { Retriever } from '../retrieval/create-retriever.ts';
import { createFunctionRetriever, type RetrieveFunction } from '../retrieval/function-retriever.ts';
import type { App } from './create-app.ts';
import { assertModelUsable } from './create-model.ts';
import { createRetrieverAgent } from './open-agent.ts';
import { assertKnownFilter, openExistingCollection } from './open-collection.ts';

interface LibraryAgentOptions {
  /** Objects of the caller, who closes them. */
  store?: ChunkStore | undefined;
  sessions?: SessionStore | undefined;
  model?: Model | undefined;
  retriever?: RetrieveFunction | undefined;
  tools?: readonly Tool[] | undefined;
  output?: ZodObject | undefined;
  mode?: SearchMode | undefined;
  tracing?: boolean | undefined;
  runtime?: Runtime | undefined;
}

interface LibraryAgent extends Agent {
  search(
    query: string,
    options?: { topK?: number; filter?: Filter; signal?: AbortSignal },
  ): Promise<RetrievalContext>;
  ingest(
    sources: string | readonly string[],
    options?: Partial<IngestOptions> & { include?: readonly string[]; exclude?: readonly string[] },
  ): Promise<IngestSummary>;
  close(): Promise<void>;
}

/** What the agent answers from: a collection, opened on first use, or a retriever of the caller. */
interface OpenedLibrary {
  store: Parameters<typeof createRetrieverAgent>[1]['store'];
  retriever: Retriever;
  assertFilter(filter: Filter): Promise<void>;
  close(): Promise<void>;
}

/** The agent of the library. Settings are checked now; the collection is opened on first use. */
export async function openLibraryAgent(app: App, options: LibraryAgentOptions): Promise<LibraryAgent> {
  const { mode = 'hybrid', runtime = app.runtime } = options;
  const { config } = app;
  await assertOptions(app, options);
  const closing = new AbortController();
  const library = createRetryablePromise(async (): Promise<OpenedLibrary> => {
    if (options.retriever !== undefined) return createFunctionLibrary(app, options.retriever, runtime);
    const store = options.store ?? (await openExistingCollection(app));
    return {
      store,
      retriever: await app.retriever(store, { mode }),
      assertFilter: (filter) => assertKnownFilter(store, filter),
      close: async () => (options.store === undefined ? store.close() : undefined),
    };
  });
  const sessions = createRetryablePromise(async () => options.sessions ?? (await app.sessions()));
  const agent = createRetryablePromise(async () => {
    const { store, retriever } = await library.get();
    return createRetrieverAgent(app, {
      ...options,
      store,
      retriever,
      sessions: await sessions.get(),
      mode,
      runtime,
    });
  });

  const untilClosed = (signal: AbortSignal | undefined) =>
    signal === undefined ? closing.signal : AbortSignal.any([signal, closing.signal]);

  async function assertUsable(filter: Filter = {}): Promise<void> {
    assertOpen();
    if (Object.keys(filter).length > 0) await (await library.get()).assertFilter(filter);
  }

  function assertOpen(): void {
    if (closing.signal.aborted)
      throw new AppError('invalid_input', 'The agent is closed.', { hint: 'Create another one.' });
  }

  /** Refuses questions after the agent is closed, and filters that match no document. */
  function guardSession(session: AgentSession): AgentSession {
    return {
      ...session,
      async *ask(question, askOptions = {}) {
        await assertUsable(askOptions.filter);
        yield* session.ask(question, { ...askOptions, signal: untilClosed(askOptions.signal) });
      },
    };
  }

  return {
    async startSession(start) {
      assertOpen();
      return guardSession(await (await agent.get()).startSession(start));
    },
    async resumeSession(sessionId) {
      assertOpen();
      return guardSession(await (await agent.get()).resumeSession(sessionId));
    },
    async answer(conversation, emit, askOptions = {}) {
      await assertUsable(askOptions.filter);
      const signal = untilClosed(askOptions.signal);
      await (await agent.get()).answer(conversation, emit, { ...askOptions, signal });
    },
    async search(text, { topK = config.searchTopK, filter = {}, signal } = {}) {
      const query = createQuery({ text, topK, filter });
      await assertUsable(filter);
      const { retriever } = await library.get();
      return (await retriever.retrieve(query, untilClosed(signal))).context;
    },
    async ingest(sources, { include, exclude, ...ingestOptions } = {}) {
      assertOpen();
      if (options.retriever !== undefined || options.store !== undefined) {
        throw new AppError(
          'invalid_input',
          'Only a collection can ingest, not your own store or retriever.',
          {
            hint: 'Leave out the options store and retriever.',
          },
        );
      }
      const { indexDocuments } = await import('./index-documents.ts');
      return indexDocuments(app, config.agent.collection, [sources].flat(), {
        prune: false,
        ...ingestOptions,
        signal: untilClosed(ingestOptions.signal),
        sources: {
          files: { cwd: process.cwd(), ...(include && { include }), ...(exclude && { exclude }) },
          web: {},
        },
      });
    },
    async close() {
      if (closing.signal.aborted) return;
      closing.abort();
      if (options.sessions === undefined) await (await sessions.current())?.close();
      await (await library.current())?.close();
      await app.close();
    },
  };
}

/** Throws an AppError for options that do not work together. */
async function assertOptions(
  app: App,
  { model, output, tools = [], retriever, store }: LibraryAgentOptions,
): Promise<void> {
  const { toolName, model: modelName } = app.config.agent;
  if (model === undefined) await assertModelUsable(app);
  if (output !== undefined && modelName === OFFLINE_MODEL) {
    throw new AppError('configuration_error', 'The offline model cannot write structured output.', {
      hint: advice`Choose a model${withSetting('model')}.`,
    });
  }
  const taken = tools.find(({ name }, index) =>
    [toolName, READ_SOURCE_TOOL, ...tools.slice(0, index).map((each) => each.name)].includes(name),
  );
  if (taken !== undefined)
    throw new AppError('invalid_input', `There are two tools with the name "${taken.name}".`);
  if (retriever !== undefined && store !== undefined)
    throw new AppError('invalid_input', 'Give either a retriever or a store, not both.');
}

/** A library without a collection: it knows only what the retriever has returned. */
function createFunctionLibrary(app: App, retrieve: RetrieveFunction, clock: Runtime): OpenedLibrary {
  const { scoreThreshold, collection } = app.config.agent;
  const retriever = createFunctionRetriever(retrieve, { scoreThreshold, clock });
  const name = app.config.collectionChosen ? collection : 'retriever';
  return {
    store: {
      name,
      info: async () => ({ documents: 0, chunks: 0, modules: [] }),
      async *documents() {},
      neighbours: async (chunkId) => [retriever.passage(chunkId) ?? []].flat(),
      wordVectors: async () => new Map(),
    },
    retriever: app.telemetry?.retriever(retriever, name) ?? retriever,
    // Its filter keys are known to the retriever alone.
    assertFilter: async () => {},
    close: async () => {},
  };
}

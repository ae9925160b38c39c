import type { Model, Tool } from '@openai/agents-core';
import type { ZodObject } from 'zod';
import type { Agent } from '../agent/agent.ts';
import { createConversationAgent } from '../agent/create-agent.ts';
import { createModelChecker } from '../agent/model-checker.ts';
import { createEntailmentChecker, createWordChecker, noChecker } from '../citations/word-checker.ts';
import { isLocalModel } from '../domain/agent-config.ts';
import { knownContextWindow } from '../domain/context-window.ts';
import type { Filter } from '../domain/query.ts';
import { OFFLINE_MODEL, type SearchMode } from '../domain/setting-choices.ts';
import { advice, settingName, withSetting } from '../faults/advice.ts';
import { AppError } from '../faults/app-error.ts';
import type { ChunkStore, ConversationStore, StoredChunk } from '../ports/chunk-store.ts';
import type { CitationChecker } from '../ports/citation-checker.ts';
import type { Runtime } from '../ports/runtime.ts';
import type { SessionStore } from '../ports/session-store.ts';
import type { Retriever } from '../retrieval/create-retriever.ts';
import { withSuggestions } from '../retrieval/suggest-words.ts';
import type { RunObserver } from '../tape/run-observer.ts';
import type { App } from './create-app.ts';
import { assertModelUsable, createConfiguredModel, createModelErrorContext } from './create-model.ts';
import { assertKnownFilter, openCollection } from './open-collection.ts';
import { openMemorySessionStore, resolveSessionId } from './sessions.ts';

interface OpenAgentOptions {
  mode?: SearchMode | undefined;
  /** Replaces the configured model. */
  model?: string | undefined;
  /** The session to continue; its collection is used unless one was chosen. */
  session?: string | undefined;
  /** Must name keys and modules that the collection has. */
  filter?: Filter | undefined;
  /** Records or replays the run. */
  tape?: RunObserver | null | undefined;
}

/** An agent, its session store and its collection. */
export interface OpenedAgent {
  agent: Agent;
  sessions: SessionStore;
  /** The collection that is searched; it may be the sample book. */
  collection: string;
  model: string;
  /** Throws `invalid_input` for keys and modules that the collection does not have. */
  assertFilter(filter: Filter): Promise<void>;
  /** A passage with its neighbours in the document; none if it was removed. */
  passagesAround(chunkId: string): Promise<StoredChunk[]>;
  /** Closes the sessions and the collection. */
  close(): Promise<void>;
}

/** Opens an agent on the configured collection, or on the sample book. */
export async function openAgent(
  app: App,
  signal: AbortSignal,
  options: OpenAgentOptions = {},
): Promise<OpenedAgent> {
  const { tape = null, model = app.config.agent.model } = options;
  const sessions = await openSessionStore(app, tape);
  let store: ChunkStore | undefined;
  const closeStores = async () => {
    await sessions.close();
    await store?.close();
  };
  try {
    const collection = await resolveCollection(options.session, sessions, app);
    const config = {
      ...app.config,
      collectionChosen: app.config.collectionChosen || options.session !== undefined,
      agent: {
        ...app.config.agent,
        model,
        collection,
        ...(app.config.origins.contextWindow === undefined && { contextWindow: knownContextWindow(model) }),
      },
    };
    const configured = app.withConfig(config);
    // A missing key is reported before anything is indexed.
    await assertModelUsable(configured);
    const opened = await openCollection(configured, signal, tape);
    store = opened;
    await assertKnownFilter(store, options.filter ?? {});
    const agent = await createCollectionAgent(configured, { store, sessions, mode: options.mode });
    return {
      agent: tape?.observe(agent) ?? agent,
      sessions,
      collection: store.name,
      model: config.agent.model,
      assertFilter: (filter) => assertKnownFilter(opened, filter),
      passagesAround: (chunkId) => opened.neighbours(chunkId, 1, 1),
      close: closeStores,
    };
  } catch (error) {
    await closeStores();
    throw error;
  }
}

/** The chosen collection, or that of the session to continue. */
async function resolveCollection(
  session: string | undefined,
  sessions: SessionStore,
  { config }: App,
): Promise<string> {
  if (session === undefined || config.collectionChosen) return config.agent.collection;
  const found = await sessions.load(await resolveSessionId(sessions, session));
  return found?.session.collection ?? config.agent.collection;
}

/** A replay does not write to the session store of the user. */
async function openSessionStore(app: App, tape: RunObserver | null): Promise<SessionStore> {
  if (tape?.replaying) return openMemorySessionStore(tape.recorded?.resumed);
  const sessions = await app.sessions();
  return tape?.observeSessions(sessions) ?? sessions;
}

interface CollectionAgentOptions {
  store: ConversationStore;
  /** Replaces the search of the store. */
  retriever: Retriever;
  assertFilter?: ((filter: Filter) => Promise<void>) | undefined;
  sessions: SessionStore;
  mode?: SearchMode | undefined;
  /** The SDK's tracing, with its own processors. */
  tracing?: boolean | undefined;
  runtime?: Runtime;
  /** Replaces the configured model. */
  model?: Model | undefined;
  /** Tools beside those of the agent. */
  tools?: readonly Tool[] | undefined;
  /** The schema of structured answers. */
  output?: ZodObject | undefined;
}

/** The configured agent on an open collection. */
export async function createCollectionAgent(
  app: App,
  options: Omit<CollectionAgentOptions, 'retriever' | 'assertFilter'> & { store: ChunkStore },
): Promise<Agent> {
  const found = await app.retriever(options.store, { mode: options.mode ?? 'hybrid' });
  // The offline model passes the words of a person on; other models choose theirs.
  const retriever = isLocalModel(app.config.agent.model) ? withSuggestions(found, options.store) : found;
  const { store } = options;
  const assertFilter = (filter: Filter) => assertKnownFilter(store, filter);
  return createRetrieverAgent(app, { ...options, retriever, assertFilter });
}

/** The configured agent on a retriever. */
export async function createRetrieverAgent(app: App, options: CollectionAgentOptions): Promise<Agent> {
  const { store, retriever, sessions, mode = 'hybrid', runtime = app.runtime } = options;
  const model = options.model ?? (await createConfiguredModel(app, runtime));
  const tracer = app.telemetry?.forAgent(app.config, options.model !== undefined);
  const agent = createConversationAgent({
    config: app.config.agent,
    model,
    store,
    retriever,
    assertFilter: options.assertFilter,
    checker: await createChecker(app, store, mode, tracer?.model(model) ?? model),
    sessions,
    runtime,
    tracing: options.tracing ?? false,
    tools: options.tools,
    output: options.output,
    errorContext: createModelErrorContext(app, options.model !== undefined),
    tracer,
  });
  return tracer?.agent(agent) ?? agent;
}

/** The configured citation check. */
async function createChecker(
  app: App,
  store: ConversationStore,
  mode: SearchMode,
  model: Model,
): Promise<CitationChecker> {
  const { config, embedder, crossEncoder } = app;
  const words = createWordChecker({ store, embedder: mode === 'lexical' ? null : embedder });
  const { by, directory = '' } = config.check;
  switch (by) {
    case 'words':
      return words;
    case 'off':
      return noChecker;
    case 'onnx':
      return createEntailmentChecker(() => crossEncoder(directory), words);
    case 'model':
      if (config.agent.model !== OFFLINE_MODEL)
        return createModelChecker(model, words, createModelErrorContext(app));
      throw new AppError('configuration_error', 'The offline model cannot check citations.', {
        hint: advice`Choose a model${withSetting('model')}, or leave out ${settingName('check')}.`,
      });
  }
}

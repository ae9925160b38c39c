import { appendFileSync } from 'node:fs';
import { type Model, setTraceProcessors, setTracingDisabled } from '@openai/agents-core';
import type { Agent } from '../agent/agent.ts';
import { createConversationAgent } from '../agent/create-agent.ts';
import type { FindJudge } from '../agent/turn-judge.ts';
import type { SearchMode } from '../domain/choices.ts';
import { contextWindowOf } from '../domain/context-window.ts';
import type { Filter } from '../domain/query.ts';
import { advice, bySetting } from '../faults/advice.ts';
import { AppError, messageOf } from '../faults/app-error.ts';
import type { Redactor } from '../faults/redactor.ts';
import type { ChunkStore, StoredChunk } from '../ports/chunk-store.ts';
import type { Runtime } from '../ports/runtime.ts';
import type { SessionStore } from '../ports/session-store.ts';
import type { TapeRun } from '../tape/tape-run.ts';
import type { App } from './create-app.ts';
import { assertModelUsable, createModel, faultContext } from './models.ts';
import { assertKnownFilter, openCollection } from './open-collection.ts';
import { configuredRedactor } from './run-settings.ts';
import { createMemorySessionStore, resolveSessionId } from './sessions.ts';

/** What a command adds to the configuration when it opens an agent. */
interface OpenAgentOptions {
  mode?: SearchMode | undefined;
  /** Further tools for the model, beside the search. */
  tools?: readonly string[] | undefined;
  /** Instead of the configured model. */
  model?: string | undefined;
  /** The session that will go on; its collection is taken unless one is named. */
  session?: string | undefined;
  /** Checked for modules that the collection does not have. */
  filter?: Filter | undefined;
  /** What the run is recorded on or replayed from. */
  tape?: TapeRun | null | undefined;
}

/** An agent on an open collection, and where its conversations are kept. */
export interface OpenAgent {
  agent: Agent;
  sessions: SessionStore;
  /** The collection that is really searched, which may be the sample. */
  collection: string;
  model: string;
  /** Throws `invalid_input` for what the collection has not. */
  assertFilter(filter: Filter): Promise<void>;
  /** A passage among those around it in its document; none if it is gone. */
  passagesAround(chunkId: string): Promise<StoredChunk[]>;
  /** Closes the sessions and the collection. */
  close(): Promise<void>;
}

/** The agent on the collection that is configured, or on the sample book. */
export async function openAgent(
  app: App,
  signal: AbortSignal,
  options: OpenAgentOptions = {},
): Promise<OpenAgent> {
  const { tape = null, model = app.config.agent.model } = options;
  const sessions = await sessionsOf(app, tape);
  let store: ChunkStore | undefined;
  const closeStores = async () => {
    await sessions.close();
    await store?.close();
  };
  try {
    const collection = await collectionOf(options.session, sessions, app);
    const config = {
      ...app.config,
      collectionChosen: app.config.collectionChosen || options.session !== undefined,
      agent: {
        ...app.config.agent,
        model,
        collection,
        ...(app.config.origins.contextWindow === undefined && { contextWindow: contextWindowOf(model) }),
      },
    };
    const configured = app.withConfig(config);
    // A missing key is reported before anything is indexed.
    assertModelUsable(configured);
    const opened = await openCollection(configured, signal, tape);
    store = opened;
    await assertKnownFilter(store, options.filter ?? {});
    const readSource = options.tools?.includes('read_source');
    const agent = await createCollectionAgent(configured, {
      store,
      sessions,
      mode: options.mode,
      readSource,
    });
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

/** A session goes on about what it was about, unless a collection is named. */
async function collectionOf(
  session: string | undefined,
  sessions: SessionStore,
  { config }: App,
): Promise<string> {
  if (session === undefined || config.collectionChosen) return config.agent.collection;
  const found = await sessions.load(await resolveSessionId(sessions, session));
  return found?.session.collection ?? config.agent.collection;
}

/** A replay leaves the conversations of the user alone. */
async function sessionsOf(app: App, tape: TapeRun | null): Promise<SessionStore> {
  if (tape?.replaying) return createMemorySessionStore(tape.recorded?.resumed);
  const sessions = await app.sessions();
  return tape?.observeSessions(sessions) ?? sessions;
}

interface CollectionAgentOptions {
  store: ChunkStore;
  sessions: SessionStore;
  mode?: SearchMode | undefined;
  readSource?: boolean | undefined;
  /** The SDK's own tracing, to whatever processors it was given. */
  tracing?: boolean | undefined;
  runtime?: Runtime;
  /** Instead of the configured model. */
  model?: Model | undefined;
}

/** The configured agent on a collection that is open. */
export async function createCollectionAgent(app: App, options: CollectionAgentOptions): Promise<Agent> {
  const { store, sessions, mode = 'hybrid', readSource = false, runtime = app.runtime } = options;
  const { traceFile, agent } = app.config;
  if (traceFile !== undefined) await traceToFile(traceFile, configuredRedactor(app.config));
  // Who searches by words alone is not made to fetch and load a model.
  const findJudge: FindJudge = async () => (mode === 'lexical' ? null : app.judge());
  return createConversationAgent({
    config: agent,
    model: options.model ?? (await createModel(app, runtime, findJudge)),
    store,
    retriever: await app.retriever(store, { mode }),
    findJudge,
    sessions,
    runtime,
    readSource,
    tracing: options.tracing ?? traceFile !== undefined,
    errorContext: faultContext(app),
  });
}

/**
 * Sends the SDK's traces to a file, a line of JSON for each trace that begins and each span that ends, and nowhere
 * else, without keys. The SDK keeps its processors for the whole process, so this is for programs of our own, not for the library.
 */
async function traceToFile(path: string, redactor: Redactor): Promise<void> {
  const write = (line: object) =>
    appendFileSync(path, `${JSON.stringify(redactor.value(line))}\n`, { mode: 0o600 });
  try {
    appendFileSync(path, '', { mode: 0o600 });
  } catch (error) {
    throw new AppError('configuration_error', `Traces cannot be written to ${path} (${messageOf(error)}).`, {
      hint: advice`Name another file${bySetting('traceFile')}.`,
    });
  }
  // What the environment has turned off for the SDK does not hold for a file that somebody asked for.
  setTracingDisabled(false);
  setTraceProcessors([
    {
      onTraceStart: async (trace) => write({ kind: 'trace', ...trace.toJSON() }),
      onTraceEnd: async () => {},
      onSpanStart: async () => {},
      onSpanEnd: async (span) => write({ kind: 'span', ...span.toJSON() }),
      shutdown: async () => {},
      forceFlush: async () => {},
    },
  ]);
}

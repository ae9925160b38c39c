import type { Model } from '@openai/agents-core';
import type { Agent, AgentSession, AskOptions } from './agent/agent.ts';
import { waitForTurn } from './agent/wait-for-turn.ts';
import { createApp } from './app/create-app.ts';
import { createCollectionAgent } from './app/open-agent.ts';
import { emptyCollectionError, noCollectionError } from './app/open-collection.ts';
import { withPlaceholderKeys } from './app/run-settings.ts';
import { throwUnknownSetting } from './config/collect-settings.ts';
import { loadConfig, type SettingValue } from './config/load-config.ts';
import { settingNames } from './config/settings.ts';
import type { AgentConfig } from './domain/agent-config.ts';
import type { AgentResponse } from './domain/agent-response.ts';
import type { SearchMode } from './domain/setting-choices.ts';
import { AppError } from './faults/app-error.ts';
import type { ChunkStore } from './ports/chunk-store.ts';
import type { Embedder } from './ports/embedder.ts';
import type { Runtime } from './ports/runtime.ts';
import type { SessionStore } from './ports/session-store.ts';

export type { Agent, AgentSession, AskOptions, StartSessionOptions } from './agent/agent.ts';
export type { AgentConfig, RetrievalPolicy } from './domain/agent-config.ts';
export type { AgentResponse, FinishReason, TokensUsed } from './domain/agent-response.ts';
export type { Citation, Verdict } from './domain/citation.ts';
export type { ConversationMessage } from './domain/conversation-message.ts';
export type { ConversationSession } from './domain/conversation-session.ts';
export type { ConversationTurn, LedgerEntry } from './domain/conversation-turn.ts';
export type { RetrievalContext } from './domain/retrieval-context.ts';
export type { RetrievedChunk } from './domain/retrieved-chunk.ts';
export type { RunEvent } from './domain/run-event.ts';
export { AppError, type ErrorKind } from './faults/app-error.ts';
export { type ErrorResponse, toErrorResponse } from './faults/error-response.ts';
export type { ChunkStore } from './ports/chunk-store.ts';
export type { Embedder } from './ports/embedder.ts';
export type { Runtime } from './ports/runtime.ts';
export type { SessionStore, SessionSummary, TurnFeedback } from './ports/session-store.ts';

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
    | 'check'
    | 'cohereBaseUrl']?: SettingValue<Name>;
};

export interface CreateAgentOptions extends Partial<AgentConfig>, ServiceOptions {
  /** The data directory for collections and sessions; default as for the command line. */
  home?: string;
  mode?: SearchMode;
  /** Gives the model a tool to read around a search result. */
  readSource?: boolean;
  /** The tracing of the Agents SDK, with the processors that you set; off by default. */
  tracing?: boolean;
  /** The kind of store, or a store object to use instead of the configured collection. */
  store?: SettingValue<'store'> | ChunkStore;
  /** The embedder, or an embedder object: the one that created the vectors of your store. */
  embedder?: SettingValue<'embedder'> | Embedder;
  /** Replaces the session store of the data directory. */
  sessions?: SessionStore;
  /** A model of the Agents SDK; replaces the configured one. */
  chatModel?: Model;
  runtime?: Runtime;
}

export interface CiteloopAgent extends Agent {
  /** Asks one question, in a new session unless one is given. Throws an AppError if there is no answer. */
  ask(question: string, options?: AskOptions & { session?: AgentSession }): Promise<AgentResponse>;
  /** Closes what `createAgent` opened. */
  close(): Promise<void>;
}

/**
 * Creates an agent on a collection. Options take precedence over the environment and config files. Throws
 * `invalid_input` for an unknown option.
 */
export async function createAgent(options: CreateAgentOptions = {}): Promise<CiteloopAgent> {
  if (process.getBuiltinModule?.('node:sqlite') === undefined) {
    const message = `citeloop needs Node 22.18 or newer; this is Node ${process.versions.node}.`;
    throw new AppError('configuration_error', message, { hint: 'Install a newer Node.' });
  }
  const {
    mode,
    readSource,
    tracing,
    store: givenStore,
    embedder: givenEmbedder,
    sessions: ownSessions,
    chatModel,
    runtime,
    ...settings
  } = options;
  for (const name of Object.keys(settings)) {
    if (!settingNames.some((known) => known === name))
      throwUnknownSetting(name, 'Unknown option', 'invalid_input');
  }
  const ownStore = typeof givenStore === 'object' ? givenStore : undefined;
  const embedder = typeof givenEmbedder === 'object' ? givenEmbedder : undefined;
  const named = {
    store: ownStore === undefined ? givenStore : undefined,
    embedder: embedder === undefined ? givenEmbedder : undefined,
  };
  const loaded = loadConfig({ options: { ...settings, ...named } });
  const config = runtime?.needsKeys === false ? withPlaceholderKeys(loaded) : loaded;
  const app = createApp(config, embedder === undefined ? {} : { embedder });
  const store = ownStore ?? (await app.catalog.open(config.agent.collection));
  if (store === null) throw noCollectionError(config.agent.collection);
  if (ownStore === undefined && (await store.count({})) === 0) {
    await store.close();
    throw emptyCollectionError(store.name);
  }
  const sessions = ownSessions ?? (await app.sessions());
  const close = async () => {
    if (ownSessions === undefined) await sessions.close();
    if (ownStore === undefined) await store.close();
    await app.close();
  };
  const agent = await createCollectionAgent(app, {
    store,
    sessions,
    mode,
    readSource,
    tracing,
    model: chatModel,
    ...(runtime && { runtime }),
  }).catch(async (error: unknown) => {
    await close();
    throw error;
  });

  return {
    ...agent,
    async ask(question, { session, ...askOptions } = {}) {
      const { response } = await waitForTurn(
        (session ?? (await agent.startSession())).ask(question, askOptions),
      );
      return response;
    },
    close,
  };
}

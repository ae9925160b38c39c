import type { Model } from '@openai/agents-core';
import type { Agent, AgentSession, AskOptions } from './agent/agent.ts';
import { loadConfig } from './config/load-config.ts';
import type { AgentConfig } from './domain/agent-config.ts';
import type { AgentResponse } from './domain/agent-response.ts';
import { AppError } from './domain/app-error.ts';
import type { SearchMode } from './domain/search-mode.ts';
import type { ChunkStore } from './ports/chunk-store.ts';
import type { Embedder } from './ports/embedder.ts';
import type { Runtime } from './ports/runtime.ts';
import type { SessionStore } from './ports/session-store.ts';
import { sessionsPath, wire } from './wire.ts';
import { wireAgent } from './wire-agent.ts';

export type { Agent, AgentSession, AskOptions } from './agent/agent.ts';
export type { AgentConfig, Policy } from './domain/agent-config.ts';
export type { AgentResponse } from './domain/agent-response.ts';
export { AppError } from './domain/app-error.ts';
export type { Citation, Verdict } from './domain/citation.ts';
export type { ConversationMessage } from './domain/conversation-message.ts';
export type { ConversationSession } from './domain/conversation-session.ts';
export type { ConversationTurn } from './domain/conversation-turn.ts';
export type { RetrievalContext } from './domain/retrieval-context.ts';
export type { RetrievedChunk } from './domain/retrieved-chunk.ts';
export type { RunEvent } from './domain/run-event.ts';
export type { ChunkStore } from './ports/chunk-store.ts';
export type { Embedder } from './ports/embedder.ts';
export type { Runtime } from './ports/runtime.ts';
export type { SessionStore } from './ports/session-store.ts';

export interface CreateAgentOptions extends Partial<AgentConfig> {
  /** Where collections and sessions are kept; default as for the command line. */
  home?: string;
  mode?: SearchMode;
  /** Lets the model read around a hit, too. */
  readSource?: boolean;
  /** The Agents SDK's own tracing, to the processors that you gave it; off unless asked for. */
  tracing?: boolean;
  /** A store of your own instead of the configured collection. */
  store?: ChunkStore;
  /** The embedder that your store's vectors were made with. */
  embedder?: Embedder;
  /** Sessions kept elsewhere than in a file. */
  sessions?: SessionStore;
  /** A model of the Agents SDK instead of the configured one. */
  chatModel?: Model;
  runtime?: Runtime;
}

export interface CiteloopAgent extends Agent {
  /** One question in a session of its own, or in the one given. Throws an AppError when there is no answer. */
  ask(question: string, options?: AskOptions & { session?: AgentSession }): Promise<AgentResponse>;
}

/** What the command line has, for programs. Settings come from the options, then as for the command line. */
export async function createAgent(options: CreateAgentOptions = {}): Promise<CiteloopAgent> {
  const {
    mode,
    readSource,
    tracing,
    store: ownStore,
    embedder,
    sessions: ownSessions,
    chatModel,
    runtime,
    ...flags
  } = options;
  const config = loadConfig({ flags });
  const app = wire(config, embedder === undefined ? {} : { embedder });
  const store = ownStore ?? (await app.catalog.open(config.agent.collection));
  if (store === null) {
    throw new AppError('invalid_input', `There is no collection "${config.agent.collection}".`, {
      hint: `Make it with: citeloop ingest <path> --collection ${config.agent.collection}`,
    });
  }
  const { createSqliteSessionStore } = await import('./adapters/sqlite/sessions/sqlite-session-store.ts');
  const sessions = ownSessions ?? createSqliteSessionStore(sessionsPath(config));
  const agent = await wireAgent(app, {
    store,
    sessions,
    mode,
    readSource,
    tracing,
    model: chatModel,
    ...(runtime && { runtime }),
  });

  return {
    ...agent,
    async ask(question, { session, ...askOptions } = {}) {
      for await (const event of (session ?? (await agent.startSession())).ask(question, askOptions)) {
        if (event.type === 'turn_completed') return event.turn.response;
        if (event.type === 'error') {
          const { errorType, message, userMessage, recoverable } = event.error;
          throw new AppError(errorType, message, { hint: userMessage, recoverable });
        }
      }
      throw new AppError('api_error', 'The turn ended without an answer.');
    },
    async close() {
      await agent.close();
      if (ownSessions === undefined) await sessions.close();
      if (ownStore === undefined) await store.close();
      await app.close();
    },
  };
}

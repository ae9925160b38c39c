import type { Model } from '@openai/agents-core';
import type { AgentConfig } from '../domain/agent-config.ts';
import { AppError } from '../domain/app-error.ts';
import { createSession } from '../domain/conversation-session.ts';
import type { ConversationTurn } from '../domain/conversation-turn.ts';
import { estimateTokens } from '../domain/estimate-tokens.ts';
import type { ChunkStore } from '../ports/chunk-store.ts';
import type { Runtime } from '../ports/runtime.ts';
import type { SessionStore } from '../ports/session-store.ts';
import type { Retriever } from '../retrieval/create-retriever.ts';
import type { Agent, AgentSession } from './agent.ts';
import { createSourceRegister, type SourceRegister } from './citations/source-register.ts';
import { createAgentSession, type SessionStart } from './create-session.ts';
import { hasTellingModules, instructionsFor, subjectsOf } from './instructions.ts';
import { type FaultContext, toAppError } from './model-faults/to-app-error.ts';
import { withAnswerCheck } from './model-faults/with-answer-check.ts';
import { withIdleTimeout } from './model-faults/with-idle-timeout.ts';
import { withRetries } from './model-faults/with-retries.ts';
import { runTurn, type TurnRequest } from './run-turn.ts';
import { createSessionRetrieval } from './session-retrieval.ts';
import { staleCitations } from './stale-citations.ts';

const IDLE_TIMEOUT_MS = 60_000;
/** Enough titles to say what a collection is about. */
const TITLES_READ = 40;

export interface AgentDependencies {
  config: AgentConfig;
  model: Model;
  store: ChunkStore;
  retriever: Retriever;
  sessions: SessionStore;
  runtime: Runtime;
  readSource?: boolean;
  /** The SDK's own tracing, which is off unless asked for. */
  tracing?: boolean;
  /** What sentences about faults of the model may name, and what they must not show. */
  faults?: FaultContext;
}

export function createConversationAgent(dependencies: AgentDependencies): Agent {
  const { config, store, sessions, runtime } = dependencies;
  let describing: Promise<string> | undefined;

  return {
    async startSession({ user } = {}) {
      const timestamp = runtime.now().toISOString();
      const session = createSession({
        sessionId: runtime.newId(),
        createdAt: timestamp,
        model: config.model,
        policy: config.policy,
        collection: store.name,
        systemMessage: {
          id: runtime.newId(),
          role: 'system',
          content: config.systemPrompt,
          citations: [],
          tokenCount: estimateTokens(config.systemPrompt),
          timestamp,
          metadata: {},
        },
      });
      return openSession(
        { session, lastTurn: null, notices: [], user: user ?? null },
        createSourceRegister(),
      );
    },

    async resumeSession(sessionId) {
      const found = await sessions.load(sessionId);
      if (found === null) {
        throw new AppError('invalid_input', `There is no session ${sessionId}.`, {
          hint: 'See: citeloop sessions list',
        });
      }
      const { collection } = found.session;
      if (collection !== store.name) {
        throw new AppError(
          'invalid_input',
          `The session ${sessionId} is about the collection "${collection}", not "${store.name}".`,
          { hint: `Go on with: citeloop chat --session ${sessionId} --collection ${collection}` },
        );
      }
      const sources = createSourceRegister();
      const turns: ConversationTurn[] = [];
      for await (const { turn } of sessions.turns(sessionId)) {
        for (const { chunks } of turn.retrievals) chunks.forEach(sources.register);
        turns.push(turn);
      }
      const notices = await staleNotices(turns, store);
      return openSession({ session: found.session, lastTurn: turns.at(-1) ?? null, notices }, sources);
    },

    close: async () => {},
  };

  function openSession(start: SessionStart, sources: SourceRegister): AgentSession {
    const retrieval = createSessionRetrieval(dependencies.retriever);
    return createAgentSession(start, {
      config,
      sessions,
      sources,
      runtime,
      async run(request) {
        const { signal } = request;
        try {
          const instructions = await instructionsOnce();
          return await runTurn(
            {
              model: guarded(request),
              config,
              instructions,
              store,
              retrieval,
              sources,
              runtime,
              readSource: dependencies.readSource ?? false,
              tracing: dependencies.tracing ?? false,
            },
            request,
          );
        } catch (error) {
          throw toAppError(error, { ...dependencies.faults, signal });
        }
      },
    });
  }

  /** The model with patience and its limits: it waits for services that ask it to, and not for ever. */
  function guarded({ emit, signal }: TurnRequest): Model {
    return withRetries(withAnswerCheck(withIdleTimeout(dependencies.model, IDLE_TIMEOUT_MS)), {
      signal,
      ...(runtime.random && { random: runtime.random }),
      ...(runtime.sleep && { sleep: runtime.sleep }),
      ...(dependencies.faults && { context: dependencies.faults }),
      onRetry: ({ attempt, waitMs, error }) =>
        emit({
          type: 'notice',
          message: `${error.message} Trying again in ${Math.ceil(waitMs / 1000)} s (${attempt}).`,
        }),
    });
  }

  function instructionsOnce(): Promise<string> {
    describing ??= describe();
    return describing;
  }

  async function describe(): Promise<string> {
    const titles: string[] = [];
    const info = await store.info();
    if (!hasTellingModules(info)) {
      for await (const { title } of store.documents()) if (titles.push(title) === TITLES_READ) break;
    }
    return instructionsFor(config.systemPrompt, subjectsOf(info, titles));
  }
}

/** Says which sources of earlier answers are no longer what they were. */
async function staleNotices(turns: readonly ConversationTurn[], store: ChunkStore): Promise<string[]> {
  const stale = await staleCitations(turns, store);
  const titles = new Set(
    turns
      .flatMap(({ response }) => response.citations)
      .filter(({ chunkId }) => chunkId !== null && stale.has(chunkId))
      .map(({ title }) => title),
  );
  if (titles.size === 0) return [];
  return [`Sources of earlier answers have changed or vanished since: ${[...titles].join(', ')}.`];
}

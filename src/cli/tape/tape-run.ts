import type { Agent, AgentSession } from '../../agent/agent.ts';
import type { ConversationTurn } from '../../domain/conversation-turn.ts';
import type { ErrorResponse } from '../../domain/error-response.ts';
import type { ChunkStore } from '../../ports/chunk-store.ts';
import type { SessionStore } from '../../ports/session-store.ts';
import { foundOf, type RunOutputs, type TurnOutput } from '../../tape/run-outputs.ts';
import { collectionFingerprint } from './collection-fingerprint.ts';

/** What a command does with the tape that its run is recorded on, or replayed from. */
export interface TapeRun {
  readonly replaying: boolean;
  /** What the run came to so far; what the tape keeps, or is compared with. */
  readonly outputs: RunOutputs;
  /** What the tape says that the run came to; null when recording. */
  readonly recorded: RunOutputs | null;
  /** Notes the collection. Those on a server are on the tape anyway. */
  opened(store: ChunkStore, isLocal: boolean): Promise<void>;
  /** The agent, whose turns are noted. */
  observed(agent: Agent): Agent;
  /** The sessions, of which one that goes on is noted. */
  noted(sessions: SessionStore): SessionStore;
}

export function createTapeRun(outputs: RunOutputs, recorded: RunOutputs | null): TapeRun {
  const observe = (session: AgentSession) => observeSession(session, outputs.turns);
  return {
    replaying: recorded !== null,
    outputs,
    recorded,
    async opened(store, isLocal) {
      if (!isLocal) return;
      const { documents, fingerprint } = await collectionFingerprint(store);
      outputs.collection = { name: store.name, documents, fingerprint };
    },
    observed: (agent) => ({
      ...agent,
      startSession: async (options) => observe(await agent.startSession(options)),
      resumeSession: async (sessionId) => observe(await agent.resumeSession(sessionId)),
    }),
    noted: (sessions) => ({
      ...sessions,
      async load(sessionId) {
        const found = await sessions.load(sessionId);
        // One that this run has begun is no news.
        if (found !== null && outputs.turns.length === 0) {
          const turns: ConversationTurn[] = [];
          for await (const { turn } of sessions.turns(sessionId)) turns.push(turn);
          outputs.resumed = { ...found, turns };
        }
        return found;
      },
    }),
  };
}

function observeSession(session: AgentSession, turns: TurnOutput[]): AgentSession {
  let reset = false;
  return {
    ...session,
    async reset() {
      await session.reset();
      reset = true;
    },
    async *ask(question, options = {}) {
      const { model, messages } = session.snapshot();
      const asked = {
        question,
        policy: options.policy ?? null,
        filter: options.filter ?? {},
        model,
        reset,
      };
      const before = messages.length;
      for await (const event of session.ask(question, options)) {
        if (event.type === 'turn_completed') {
          turns.push({ ...asked, ...answered(event.turn), messages: newMessages(session, before) });
        }
        if (event.type === 'error') turns.push({ ...asked, ...failed(event.error) });
        if (event.type === 'turn_completed' || event.type === 'error') reset = false;
        yield event;
      }
    },
  };
}

type Outcome = Omit<TurnOutput, 'question' | 'policy' | 'filter' | 'reset' | 'messages'>;

function answered({ response, retrievals }: ConversationTurn): Outcome {
  const { model, answer, grounded, retrievalCount, tokensUsed } = response;
  return {
    model,
    answer,
    grounded,
    citations: response.citations.map(({ marker, title, url, chunkId, verdict }) => ({
      marker,
      title,
      url,
      chunkId,
      verdict,
    })),
    retrievalCount,
    retrieved: retrievals.map(foundOf),
    tokensUsed,
    error: null,
  };
}

function failed(error: ErrorResponse): Omit<Outcome, 'model'> & { messages: [] } {
  return {
    answer: null,
    grounded: null,
    citations: [],
    retrievalCount: 0,
    retrieved: [],
    tokensUsed: null,
    messages: [],
    error,
  };
}

function newMessages(session: AgentSession, before: number): TurnOutput['messages'] {
  return session
    .snapshot()
    .messages.slice(before)
    .map((message) => ({
      role: message.role,
      content: message.content,
      ...('name' in message && { name: message.name }),
      ...('toolCalls' in message && message.toolCalls.length > 0 && { toolCalls: message.toolCalls }),
    }));
}

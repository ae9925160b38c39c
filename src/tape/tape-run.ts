import type { Agent, AgentSession } from '../agent/agent.ts';
import { collectionFingerprint } from '../domain/collection-identity.ts';
import type { ConversationTurn } from '../domain/conversation-turn.ts';
import type { RetrievedChunk } from '../domain/retrieved-chunk.ts';
import type { ErrorResponse } from '../faults/error-response.ts';
import type { ChunkStore } from '../ports/chunk-store.ts';
import type { SessionStore } from '../ports/session-store.ts';
import { foundOf, type RunOutputs, type TurnOutput } from './run-outputs.ts';

/** What a run does with the tape that it is recorded on, or replayed from. */
export interface TapeRun {
  readonly replaying: boolean;
  /** What the run came to so far; what the tape keeps, or is compared with. */
  readonly outputs: RunOutputs;
  /** What the tape says that the run came to; null when recording. */
  readonly recorded: RunOutputs | null;
  /** Notes the collection. Those on a server are on the tape anyway. */
  noteCollection(store: ChunkStore, isLocal: boolean): Promise<void>;
  /** The same agent, whose turns are noted. */
  observe(agent: Agent): Agent;
  /** The same sessions, of which one that goes on is noted. */
  observeSessions(sessions: SessionStore): SessionStore;
}

/** A run under way, on a tape or on none. */
export interface Run {
  readonly signal: AbortSignal;
  readonly tape: TapeRun | null;
}

interface TapeRunOptions {
  outputs: RunOutputs;
  recorded: RunOutputs | null;
  /** A signal for the turn that begins, besides the one that it is asked with. */
  turnSignal?: () => AbortSignal;
}

export function createTapeRun({ outputs, recorded, turnSignal }: TapeRunOptions): TapeRun {
  const observe = (session: AgentSession) => observeSession(session, outputs.turns, turnSignal);
  return {
    replaying: recorded !== null,
    outputs,
    recorded,
    async noteCollection(store, isLocal) {
      if (!isLocal) return;
      const documents = await Array.fromAsync(store.documents());
      const fingerprint = collectionFingerprint(store.identity, documents);
      outputs.collection = { name: store.name, documents: documents.length, fingerprint };
    },
    observe: (agent) => ({
      ...agent,
      startSession: async (options) => observe(await agent.startSession(options)),
      resumeSession: async (sessionId) => observe(await agent.resumeSession(sessionId)),
    }),
    observeSessions: (sessions) => ({
      ...sessions,
      async load(sessionId) {
        const found = await sessions.load(sessionId);
        // One that this run has begun is no news.
        if (found !== null && outputs.turns.length === 0) {
          const turns: ConversationTurn[] = [];
          for await (const { turn } of sessions.turns(sessionId)) turns.push(withoutFiles(turn));
          outputs.resumed = { ...found, turns };
        }
        return found;
      },
    }),
  };
}

function observeSession(
  session: AgentSession,
  turns: TurnOutput[],
  turnSignal: (() => AbortSignal) | undefined,
): AgentSession {
  let reset = false;
  return {
    ...session,
    async reset() {
      await session.reset();
      reset = true;
    },
    async *ask(question, { signal: given, ...options } = {}) {
      const { model, messages } = session.snapshot();
      const request = {
        question,
        policy: options.policy ?? null,
        filter: options.filter ?? {},
        model,
        reset,
      };
      const before = messages.length;
      const signals = [given, turnSignal?.()].filter((signal) => signal !== undefined);
      for await (const event of session.ask(question, { ...options, signal: AbortSignal.any(signals) })) {
        if (event.type === 'turn_completed') {
          turns.push({ ...request, ...answered(event.turn), messages: newMessages(session, before) });
        }
        if (event.type === 'error') turns.push({ ...request, ...failed(event.error) });
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
    sentences: response.sentences.map(({ text, verdict, unsupportedSpans }) => ({
      text,
      verdict,
      unsupportedSpans: unsupportedSpans.map(({ start, end }) => answer.slice(start, end)),
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
    sentences: null,
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

/** Where the recording machine keeps its files is nothing to a reader of the tape. */
function withoutFiles(turn: ConversationTurn): ConversationTurn {
  const bare = ({ uri: _uri, ...chunk }: RetrievedChunk) => chunk;
  const retrievals = turn.retrievals.map((retrieval) => ({
    ...retrieval,
    chunks: retrieval.chunks.map(bare),
    nearMiss: retrieval.nearMiss && bare(retrieval.nearMiss),
  }));
  return { ...turn, retrievals };
}

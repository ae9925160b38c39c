import type { Agent, AgentSession } from '../agent/agent.ts';
import { collectionFingerprint } from '../domain/collection-identity.ts';
import type { ConversationTurn } from '../domain/conversation-turn.ts';
import type { RetrievedChunk } from '../domain/retrieved-chunk.ts';
import type { ChunkStore } from '../ports/chunk-store.ts';
import type { Runtime } from '../ports/runtime.ts';
import type { SessionStore } from '../ports/session-store.ts';
import { type RunOutputs, type TurnOutput, toFailedTurnOutput, toTurnOutput } from './run-outputs.ts';

/** Collects the outputs of a run that is recorded or replayed. */
export interface RunObserver {
  readonly replaying: boolean;
  /** The outputs so far. */
  readonly outputs: RunOutputs;
  /** The outputs on the tape; null when recording. */
  readonly recorded: RunOutputs | null;
  /** A collection on a server is left out: its requests are on the tape. */
  noteCollection(store: ChunkStore, isLocal: boolean): Promise<void>;
  /** Returns the agent with its turns added to the outputs. */
  observe(agent: Agent): Agent;
  /** Returns the sessions with the resumed one added to the outputs. */
  observeSessions(sessions: SessionStore): SessionStore;
}

/** The run of a command. */
export interface CommandRun {
  readonly signal: AbortSignal;
  readonly tape: RunObserver | null;
}

/** The run of a command that is recorded or replayed. */
export interface TapedRun extends CommandRun {
  readonly tape: RunObserver;
  readonly runtime: Runtime;
}

/** `turnSignal` returns a signal that ends the next turn, in addition to the one passed to `ask`. */
export function createRunObserver(
  outputs: RunOutputs,
  recorded: RunOutputs | null,
  turnSignal?: () => AbortSignal,
): RunObserver {
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
        // A session that this run started is not a resumed one.
        if (found !== null && outputs.turns.length === 0) {
          const turns = await Array.fromAsync(sessions.turns(sessionId), ({ turn }) => withoutFileUris(turn));
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
    async *ask(question, { signal, ...options } = {}) {
      const { model, messages } = session.snapshot();
      const { policy = null, filter = {} } = options;
      const request = { question, policy, filter, model, reset };
      const signals = [signal, turnSignal?.()].filter((each) => each !== undefined);
      for await (const event of session.ask(question, { ...options, signal: AbortSignal.any(signals) })) {
        if (event.type === 'turn_completed') {
          const added = session.snapshot().messages.slice(messages.length);
          turns.push(toTurnOutput(request, event.turn, added));
        }
        if (event.type === 'error') turns.push(toFailedTurnOutput(request, event.error));
        if (event.type === 'turn_completed' || event.type === 'error') reset = false;
        yield event;
      }
    },
  };
}

/** A tape does not contain the file paths of the recording machine. */
function withoutFileUris(turn: ConversationTurn): ConversationTurn {
  const withoutUri = ({ uri: _uri, ...chunk }: RetrievedChunk) => chunk;
  const retrievals = turn.retrievals.map((retrieval) => ({
    ...retrieval,
    chunks: retrieval.chunks.map(withoutUri),
    nearMiss: retrieval.nearMiss && withoutUri(retrieval.nearMiss),
  }));
  return { ...turn, retrievals };
}

import type { ConversationMessage } from '../../domain/conversation-message.ts';
import {
  assertSessionCurrent,
  type ConversationSession,
  sessionIdTakenError,
  sessionTitle,
  sessionTotals,
  unknownSessionError,
} from '../../domain/conversation-session.ts';
import type { ConversationTurn } from '../../domain/conversation-turn.ts';
import type { RecordedTurn, SessionStore } from '../../ports/session-store.ts';

interface StoredSession {
  session: Omit<ConversationSession, 'messages'>;
  messages: ConversationMessage[];
  user: string | null;
  updatedAt: string;
  turns: RecordedTurn[];
}

/** Keeps sessions until the process ends: for tests, replays and programs that do not store sessions. */
export function createMemorySessionStore(
  existing: {
    session: ConversationSession;
    user: string | null;
    turns: readonly ConversationTurn[];
  } | null = null,
): SessionStore {
  /** In the order of their last change. */
  const sessions = new Map<string, StoredSession>();

  /** Saves everything but the turn's messages. Throws `invalid_input` if the session has changed since it was loaded. */
  function save(given: ConversationSession, turns: number): StoredSession {
    const stored = sessions.get(given.sessionId);
    if (stored === undefined) throw unknownSessionError(given.sessionId);
    const progress = {
      turns: stored.turns.at(-1)?.turn.response.turnNumber ?? 0,
      segments: stored.session.segments.length,
    };
    assertSessionCurrent(given.sessionId, { turns, segments: given.segments.length }, progress);
    const { messages, ...session } = structuredClone({ ...given, messages: given.messages.slice(0, 1) });
    const wasReset = session.segments.length > stored.session.segments.length;
    stored.messages.splice(0, wasReset ? stored.messages.length : 1, ...messages);
    stored.session = session;
    touch(given.sessionId, stored);
    return stored;
  }

  function touch(sessionId: string, stored: StoredSession): void {
    stored.updatedAt = new Date().toISOString();
    sessions.delete(sessionId);
    sessions.set(sessionId, stored);
  }

  function create(given: ConversationSession, user: string | null): void {
    if (sessions.has(given.sessionId)) throw sessionIdTakenError(given.sessionId);
    const { messages, ...session } = structuredClone(given);
    touch(given.sessionId, { session, messages, user, updatedAt: '', turns: [] });
  }

  if (existing !== null) {
    create(existing.session, existing.user);
    const turns = existing.turns.map((turn) => ({ turn: structuredClone(turn) }));
    sessions.get(existing.session.sessionId)?.turns.push(...turns);
  }
  return {
    create: async (session, user) => create(session, user),

    async load(sessionId) {
      const stored = sessions.get(sessionId);
      if (stored === undefined) return null;
      const { session, messages, user } = stored;
      return structuredClone({ session: { ...session, messages }, user });
    },

    async commitTurn(session, messages, turn, newSession) {
      if (newSession !== undefined) create(newSession.session, newSession.user);
      const stored = save(session, turn.response.turnNumber - 1);
      stored.messages.push(...structuredClone(messages));
      stored.turns.push({ turn: structuredClone(turn) });
    },

    async update(session) {
      save(session, sessionTotals(session).turnCount);
    },

    async *turns(sessionId) {
      const stored = sessions.get(sessionId);
      for (const recorded of stored?.turns ?? []) yield structuredClone(recorded);
    },

    async lastTurn(sessionId) {
      return structuredClone(sessions.get(sessionId)?.turns.at(-1) ?? null);
    },

    async list({ user, limit } = {}) {
      return [...sessions.values()]
        .reverse()
        .filter((stored) => user === undefined || stored.user === user)
        .slice(0, limit)
        .map(({ session, messages: _, ...stored }) => ({
          sessionId: session.sessionId,
          user: stored.user,
          title: stored.turns[0] === undefined ? null : sessionTitle(stored.turns[0].turn.userQuery),
          status: session.status,
          isInteractive: session.isInteractive,
          model: session.model,
          policy: session.policy,
          collection: session.collection,
          createdAt: session.createdAt,
          updatedAt: stored.updatedAt,
          ...sessionTotals({ ...session, messages: [] }),
        }));
    },

    delete: async (sessionId) => sessions.delete(sessionId),
    close: async () => {},
  };
}

import type { ConversationMessage } from '../../domain/conversation-message.ts';
import {
  assertCurrent,
  type ConversationSession,
  sessionTitle,
  sessionTotals,
  takenSessionId,
  unknownSession,
} from '../../domain/conversation-session.ts';
import type { ConversationTurn } from '../../domain/conversation-turn.ts';
import type { RecordedTurn, SessionStore } from '../../ports/session-store.ts';

interface Kept {
  session: Omit<ConversationSession, 'messages'>;
  messages: ConversationMessage[];
  user: string | null;
  updatedAt: string;
  turns: RecordedTurn[];
}

/** A session that the store has from the start. */
interface ExistingSession {
  session: ConversationSession;
  user: string | null;
  turns: readonly ConversationTurn[];
}

/** Sessions for as long as the process lives: for tests, and for programs that keep none. */
export function createMemorySessionStore(existing: ExistingSession | null = null): SessionStore {
  /** The one that changed last comes last. */
  const sessions = new Map<string, Kept>();

  /** Takes over all but the messages of the turn, provided that nothing came after what `given` knows of. */
  function save(given: ConversationSession, turns: number): Kept {
    const kept = sessions.get(given.sessionId);
    if (kept === undefined) throw unknownSession(given.sessionId);
    const progress = {
      turns: lastOf(kept)?.turn.response.turnNumber ?? 0,
      segments: kept.session.segments.length,
    };
    assertCurrent(given.sessionId, { turns, segments: given.segments.length }, progress);
    const { messages, ...session } = structuredClone({ ...given, messages: given.messages.slice(0, 1) });
    const wasReset = session.segments.length > kept.session.segments.length;
    kept.messages.splice(0, wasReset ? kept.messages.length : 1, ...messages);
    kept.session = session;
    touch(given.sessionId, kept);
    return kept;
  }

  function touch(sessionId: string, kept: Kept): void {
    kept.updatedAt = new Date().toISOString();
    sessions.delete(sessionId);
    sessions.set(sessionId, kept);
  }

  function create(given: ConversationSession, user: string | null): void {
    if (sessions.has(given.sessionId)) throw takenSessionId(given.sessionId);
    const { messages, ...session } = structuredClone(given);
    touch(given.sessionId, { session, messages, user, updatedAt: '', turns: [] });
  }

  if (existing !== null) {
    create(existing.session, existing.user);
    const turns = existing.turns.map((turn) => ({ turn: structuredClone(turn), feedback: null }));
    sessions.get(existing.session.sessionId)?.turns.push(...turns);
  }
  return {
    create: async (session, user) => create(session, user),

    async load(sessionId) {
      const kept = sessions.get(sessionId);
      if (kept === undefined) return null;
      const { session, messages, user } = kept;
      return structuredClone({ session: { ...session, messages }, user });
    },

    async commitTurn(session, messages, turn, begun) {
      if (begun !== undefined) create(begun.session, begun.user);
      const kept = save(session, turn.response.turnNumber - 1);
      kept.messages.push(...structuredClone(messages));
      kept.turns.push({ turn: structuredClone(turn), feedback: null });
    },

    async update(session) {
      save(session, sessionTotals(session).turnCount);
    },

    async *turns(sessionId) {
      const kept = sessions.get(sessionId);
      for (const recorded of kept?.turns ?? []) yield structuredClone(recorded);
    },

    async lastTurn(sessionId) {
      return structuredClone(lastOf(sessions.get(sessionId)) ?? null);
    },

    async list({ user, limit } = {}) {
      return [...sessions.values()]
        .reverse()
        .filter((kept) => user === undefined || kept.user === user)
        .slice(0, limit)
        .map(({ session, messages: _, ...kept }) => ({
          sessionId: session.sessionId,
          user: kept.user,
          title: titleOf(kept.turns),
          status: session.status,
          isInteractive: session.isInteractive,
          model: session.model,
          policy: session.policy,
          collection: session.collection,
          createdAt: session.createdAt,
          updatedAt: kept.updatedAt,
          ...sessionTotals({ ...session, messages: [] }),
        }));
    },

    async setFeedback(sessionId, turnNumber, feedback) {
      const kept = sessions.get(sessionId);
      const recorded =
        turnNumber === 'last'
          ? lastOf(kept)
          : kept?.turns.find(({ turn }) => turn.response.turnNumber === turnNumber);
      if (recorded === undefined) return false;
      recorded.feedback = { ...feedback };
      return true;
    },

    delete: async (sessionId) => sessions.delete(sessionId),
    close: async () => {},
  };
}

function lastOf(kept: Kept | undefined): RecordedTurn | undefined {
  return kept?.turns.at(-1);
}

function titleOf([first]: readonly RecordedTurn[]): string | null {
  return first === undefined ? null : sessionTitle(first.turn.userQuery);
}

import type { Policy } from '../domain/agent-config.ts';
import type { ConversationMessage } from '../domain/conversation-message.ts';
import type { ConversationSession } from '../domain/conversation-session.ts';
import type { ConversationTurn } from '../domain/conversation-turn.ts';

/** What a person thought of an answer. */
export interface Feedback {
  verdict: 'good' | 'bad';
  why: string | null;
  at: string;
}

export interface SessionSummary {
  sessionId: string;
  user: string | null;
  /** The first question, or null before there is one. */
  title: string | null;
  status: ConversationSession['status'];
  isInteractive: boolean;
  model: string;
  policy: Policy;
  collection: string;
  createdAt: string;
  updatedAt: string;
  /** Over all segments. */
  turnCount: number;
  retrievalCount: number;
  totalTokensUsed: number;
}

export interface RecordedTurn {
  turn: ConversationTurn;
  feedback: Feedback | null;
}

/** A session before its first turn, and whose it is. */
interface NewSession {
  session: ConversationSession;
  user: string | null;
}

/** Keeps conversations. What a call has resolved for survives a crash of the process. */
export interface SessionStore {
  create(session: ConversationSession, user: string | null): Promise<void>;
  /** The session as it was left; null if there is none. */
  load(sessionId: string): Promise<{ session: ConversationSession; user: string | null } | null>;
  /**
   * Commits a turn at once: its messages, its record, and the session's counters after it. With `begun`, the
   * session is made first, in the same commit.
   */
  commitTurn(
    session: ConversationSession,
    messages: readonly ConversationMessage[],
    turn: ConversationTurn,
    begun?: NewSession,
  ): Promise<void>;
  /** Commits what is not a turn: status, policy, model, or a reset (the messages are then the system message alone). */
  update(session: ConversationSession): Promise<void>;
  /** Every turn, oldest first, closed segments included. */
  turns(sessionId: string): AsyncIterable<RecordedTurn>;
  /** The newest turn; null if there is none. */
  lastTurn(sessionId: string): Promise<RecordedTurn | null>;
  /** Newest first. */
  list(options?: { user?: string | undefined; limit?: number | undefined }): Promise<SessionSummary[]>;
  /** Sets the verdict on a turn by its number from 1, or on the last one. False if there is no such turn. */
  setFeedback(sessionId: string, turnNumber: number | 'last', feedback: Feedback): Promise<boolean>;
  /** False if there was none. */
  delete(sessionId: string): Promise<boolean>;
  close(): Promise<void>;
}

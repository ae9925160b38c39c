import type { RetrievalPolicy } from '../domain/agent-config.ts';
import type { ConversationMessage } from '../domain/conversation-message.ts';
import type { ConversationSession } from '../domain/conversation-session.ts';
import type { ConversationTurn } from '../domain/conversation-turn.ts';

export interface SessionSummary {
  sessionId: string;
  user: string | null;
  /** The first question; null without turns. */
  title: string | null;
  status: ConversationSession['status'];
  isInteractive: boolean;
  model: string;
  policy: RetrievalPolicy;
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
}

/** A session without turns, and its owner. */
interface NewSession {
  session: ConversationSession;
  user: string | null;
}

/** A session with its turns, and its owner. */
export interface RecordedSession extends NewSession {
  turns: readonly ConversationTurn[];
}

/** Stores sessions. Changes survive a crash of the process once their call has resolved. */
export interface SessionStore {
  create(session: ConversationSession, user: string | null): Promise<void>;
  /** Null if there is no such session. */
  load(sessionId: string): Promise<{ session: ConversationSession; user: string | null } | null>;
  /** Stores a turn, its messages and the changed session in one transaction; with `begun`, creates the session first. */
  commitTurn(
    session: ConversationSession,
    messages: readonly ConversationMessage[],
    turn: ConversationTurn,
    begun?: NewSession,
  ): Promise<void>;
  /** Stores changes other than a turn: status, policy, model, or a reset. */
  update(session: ConversationSession): Promise<void>;
  /** All turns, oldest first, closed segments included. */
  turns(sessionId: string): AsyncIterable<RecordedTurn>;
  /** Null if there is no turn. */
  lastTurn(sessionId: string): Promise<RecordedTurn | null>;
  /** Newest first. */
  list(options?: { user?: string | undefined; limit?: number | undefined }): Promise<SessionSummary[]>;
  /** False if there is no such session. */
  delete(sessionId: string): Promise<boolean>;
  close(): Promise<void>;
}

import type { Policy } from '../domain/agent-config.ts';
import type { ConversationSession } from '../domain/conversation-session.ts';
import type { ConversationTurn } from '../domain/conversation-turn.ts';
import type { Filter } from '../domain/filter.ts';
import type { RunEvent } from '../domain/run-event.ts';

export interface AskOptions {
  /** For this turn only. */
  policy?: Policy;
  /** Only documents that pass it are searched in this turn. */
  filter?: Filter;
  signal?: AbortSignal;
}

/** A conversation. One turn at a time. */
export interface AgentSession {
  readonly id: string;
  /** As of the last committed turn. */
  snapshot(): ConversationSession;
  lastTurn(): ConversationTurn | null;
  /**
   * Asks a question and yields what happens. The last event is `turn_completed`, committed to the session
   * store before it is yielded, or `error`, after which the session goes on as if the question had not been
   * asked. Throws `invalid_input` for a blank question and `interrupted` when the signal is raised.
   */
  ask(question: string, options?: AskOptions): AsyncGenerator<RunEvent, void, undefined>;
  /** Forgets the conversation; the system message, the id and the counters of the past stay. */
  reset(): Promise<void>;
}

/** Questions in, RunEvents out. */
export interface Agent {
  startSession(options?: { user?: string | undefined }): Promise<AgentSession>;
  /** Throws `invalid_input` if there is no such session. */
  resumeSession(sessionId: string): Promise<AgentSession>;
  close(): Promise<void>;
}

import type { RetrievalPolicy } from '../domain/agent-config.ts';
import type { ConversationMessage } from '../domain/conversation-message.ts';
import type { ConversationSession } from '../domain/conversation-session.ts';
import type { ConversationTurn } from '../domain/conversation-turn.ts';
import type { Filter } from '../domain/query.ts';
import type { RunEvent } from '../domain/run-event.ts';

/** The name of the tool that reads around a search result, as in `tool_call` events. */
export const READ_SOURCE_TOOL = 'read_source';

export interface AskOptions {
  /** For this turn only. */
  policy?: RetrievalPolicy;
  /** Searches of this turn return only documents that pass it. */
  filter?: Filter;
  /** A text to answer from beside the documents; it is cited as a source. */
  attached?: string | undefined;
  signal?: AbortSignal;
}

/** A conversation. One turn at a time: a question waits for the turn before it. */
export interface AgentSession {
  readonly id: string;
  /** A copy of the session after the last committed turn. */
  snapshot(): ConversationSession;
  lastTurn(): ConversationTurn | null;
  /**
   * Asks a question and yields the events of the turn. The last event is `turn_completed`, yielded after the turn is
   * committed to the session store, or `error`, which leaves the session unchanged. Throws `invalid_input` for a blank
   * question and `interrupted` when the signal is aborted. A reader that stops early ends the turn, which is then not
   * stored.
   */
  ask(question: string, options?: AskOptions): AsyncGenerator<RunEvent, void, undefined>;
  /** Removes the messages; the system message, the id and the totals stay. */
  reset(): Promise<void>;
  /** Marks the session as completed; `resumeSession` reopens it. */
  complete(): Promise<void>;
}

export interface StartSessionOptions {
  /** The owner of the session. */
  user?: string | undefined;
  /** Whether a person types the questions, at a terminal or on a page. */
  isInteractive?: boolean | undefined;
}

/** Answers questions from the documents of one collection. */
export interface Agent {
  startSession(options?: StartSessionOptions): Promise<AgentSession>;
  /** Throws `invalid_input` if there is no such session. */
  resumeSession(sessionId: string): Promise<AgentSession>;
  /**
   * Answers a question in a conversation that the caller stores; history is oldest first. Calls `emit` with each event
   * without waiting for it; the last one is `turn_completed` or `error`. Throws as `ask` does.
   */
  answer(
    conversation: { question: string; history: readonly ConversationMessage[] },
    emit: (event: RunEvent) => void,
    options?: AskOptions,
  ): Promise<void>;
}

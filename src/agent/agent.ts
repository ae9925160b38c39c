import type { Policy } from '../domain/agent-config.ts';
import type { ConversationMessage } from '../domain/conversation-message.ts';
import type { ConversationSession } from '../domain/conversation-session.ts';
import type { ConversationTurn } from '../domain/conversation-turn.ts';
import type { Filter } from '../domain/query.ts';
import type { RunEvent } from '../domain/run-event.ts';

/** The tool by which a model reads around a hit, as `tool_call` events name it. */
export const READ_SOURCE = 'read_source';

export interface AskOptions {
  /** For this turn only. */
  policy?: Policy;
  /** Only documents that pass it are searched in this turn. */
  filter?: Filter;
  /** A text that the person gives along: read beside the documents, and cited as a source of its own. */
  attached?: string | undefined;
  signal?: AbortSignal;
}

/** A conversation. One turn at a time. */
export interface AgentSession {
  readonly id: string;
  /** A copy, as of the last committed turn. */
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
  /** Nobody asks in it any more; `resumeSession` takes it up again. */
  complete(): Promise<void>;
}

export interface StartOptions {
  /** Whose it is. */
  user?: string | undefined;
  /** Whether a person types in it, at a terminal or on a page. */
  isInteractive?: boolean | undefined;
}

/** Questions in, RunEvents out. */
export interface Agent {
  startSession(options?: StartOptions): Promise<AgentSession>;
  /** Throws `invalid_input` if there is no such session. */
  resumeSession(sessionId: string): Promise<AgentSession>;
  /**
   * Answers the last question of a conversation that the caller keeps: nothing is stored. History comes oldest first.
   * `emit` hears what happens, as it happens and whether or not anybody keeps up; the last event is `turn_completed`
   * or `error`. Ends with the turn. Throws as `ask` does.
   */
  answer(
    conversation: { question: string; history: readonly ConversationMessage[] },
    emit: (event: RunEvent) => void,
    options?: AskOptions,
  ): Promise<void>;
}

import type { AgentSession } from '../../agent/agent.ts';
import type { Policy } from '../../domain/agent-config.ts';
import type { ConversationTurn } from '../../domain/conversation-turn.ts';
import type { SessionStore } from '../../ports/session-store.ts';
import { resolveSessionId } from '../resolve-session.ts';
import type { OpenedAgent } from './opened-agent.ts';

/** What a chat is about at the moment. Commands change it; the next question uses it. */
export interface Conversation {
  readonly user: string | undefined;
  /** Files that `/save` has written and may write again. */
  readonly savedFiles: Set<string>;
  policy: Policy;
  session(): AgentSession;
  sessions(): SessionStore;
  model(): string;
  /** The newest turn that searched; null if there is none. */
  lastSearched(): ConversationTurn | null;
  completed(turn: ConversationTurn): void;
  reset(): Promise<void>;
  /** Goes on with the session whose id begins so. Throws `invalid_input`, and nothing has changed. */
  resume(sessionId: string): Promise<void>;
  /** Goes on with another model. Throws if it cannot be used, and nothing has changed. */
  changeModel(model: string): Promise<void>;
  close(): Promise<void>;
}

interface ConversationStart {
  opened: OpenedAgent;
  session: AgentSession;
  policy: Policy;
  user: string | undefined;
  openWithModel(model: string): Promise<OpenedAgent>;
}

export function createConversation(start: ConversationStart): Conversation {
  let { opened, session } = start;
  let searched = searchedIn(session.lastTurn());

  function enter(next: AgentSession): void {
    session = next;
    searched = searchedIn(next.lastTurn());
  }

  return {
    user: start.user,
    savedFiles: new Set(),
    policy: start.policy,
    session: () => session,
    sessions: () => opened.sessions,
    model: () => opened.model,
    lastSearched: () => searched,
    completed(turn) {
      searched = searchedIn(turn) ?? searched;
    },
    async reset() {
      await session.reset();
      searched = null;
    },
    async resume(sessionId) {
      enter(await opened.agent.resumeSession(await resolveSessionId(opened.sessions, sessionId)));
    },
    async changeModel(model) {
      const next = await start.openWithModel(model);
      const { turnCount, segments } = session.snapshot();
      const isNew = turnCount === 0 && segments.length === 0;
      try {
        session = isNew
          ? await next.agent.startSession({ user: start.user })
          : await next.agent.resumeSession(session.id);
      } catch (error) {
        await next.close();
        throw error;
      }
      const previous = opened;
      opened = next;
      await previous.close();
    },
    close: () => opened.close(),
  };
}

function searchedIn(turn: ConversationTurn | null): ConversationTurn | null {
  return turn !== null && turn.retrievals.length > 0 ? turn : null;
}

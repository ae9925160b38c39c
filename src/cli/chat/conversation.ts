import type { AgentSession } from '../../agent/agent.ts';
import type { OpenAgent } from '../../app/open-agent.ts';
import { resolveSessionId } from '../../app/sessions.ts';
import type { Policy } from '../../domain/agent-config.ts';
import type { ConversationTurn } from '../../domain/conversation-turn.ts';
import type { Filter } from '../../domain/query.ts';
import type { PriceOf } from '../../evaluation/run/prices.ts';
import { AppError } from '../../faults/app-error.ts';
import type { SessionStore } from '../../ports/session-store.ts';

/** The state of a chat: slash commands change it, and the next question uses it. */
export interface ChatConversation {
  readonly user: string | undefined;
  policy: Policy;
  filter: Filter;
  /** The names of all collections; empty if they are unknown. */
  collections(): Promise<readonly string[]>;
  readonly priceOf: PriceOf;
  collection(): string;
  session(): AgentSession;
  sessions(): SessionStore;
  model(): string;
  /** The newest turn with a search. */
  lastSearched(): ConversationTurn | null;
  /** Oldest first. */
  turns(): Promise<ConversationTurn[]>;
  passagesAround: OpenAgent['passagesAround'];
  completed(turn: ConversationTurn): void;
  reset(): Promise<void>;
  /** Takes the beginning of an id, too. Throws `invalid_input` before anything changes. */
  resume(sessionId: string): Promise<void>;
  /** Throws before anything changes if the model cannot be used. */
  changeModel(model: string): Promise<void>;
  /** Starts a session without a filter. Throws before anything changes if the collection cannot be used. */
  changeCollection(name: string): Promise<void>;
  /** Throws `invalid_input` before anything changes. */
  changeFilter(filter: Filter): Promise<void>;
  /** Completes the session, unless another process continues it. */
  leave(): Promise<void>;
  close(): Promise<void>;
}

interface ConversationStart {
  open: OpenAgent;
  session: AgentSession;
  policy: Policy;
  user: string | undefined;
  isInteractive: boolean;
  filter?: Filter;
  collections?: () => Promise<readonly string[]>;
  priceOf?: PriceOf;
  openWith(changed: { model?: string; collection?: string; session?: string }): Promise<OpenAgent>;
}

export function createChatConversation(start: ConversationStart): ChatConversation {
  let { open, session } = start;
  let searched = searchedIn(session.lastTurn());

  function enter(next: AgentSession): void {
    session = next;
    searched = searchedIn(next.lastTurn());
  }

  const conversation: ChatConversation = {
    user: start.user,
    policy: start.policy,
    filter: start.filter ?? {},
    collections: start.collections ?? (async () => []),
    priceOf: start.priceOf ?? (() => null),
    collection: () => open.collection,
    session: () => session,
    sessions: () => open.sessions,
    model: () => open.model,
    lastSearched: () => searched,
    async turns() {
      const recorded = await Array.fromAsync(open.sessions.turns(session.id));
      return recorded.map(({ turn }) => turn);
    },
    passagesAround: (chunkId) => open.passagesAround(chunkId),
    completed(turn) {
      searched = searchedIn(turn) ?? searched;
    },
    async reset() {
      await session.reset();
      searched = null;
    },
    async resume(sessionId) {
      const next = await open.agent.resumeSession(await resolveSessionId(open.sessions, sessionId));
      if (next.id !== session.id) await complete(session);
      enter(next);
    },
    async changeModel(model) {
      const next = await start.openWith({ model, collection: open.collection });
      const { turnCount, segments } = session.snapshot();
      const isNew = turnCount === 0 && segments.length === 0;
      try {
        session = isNew
          ? await next.agent.startSession({ user: start.user, isInteractive: start.isInteractive })
          : await next.agent.resumeSession(session.id);
      } catch (error) {
        await next.close();
        throw error;
      }
      const previous = open;
      open = next;
      await previous.close();
    },
    async changeCollection(name) {
      const next = await start.openWith({ model: open.model, collection: name });
      try {
        const started = await next.agent.startSession({
          user: start.user,
          isInteractive: start.isInteractive,
        });
        await complete(session);
        enter(started);
      } catch (error) {
        await next.close();
        throw error;
      }
      const previous = open;
      open = next;
      conversation.filter = {};
      await previous.close();
    },
    async changeFilter(filter) {
      await open.assertFilter(filter);
      conversation.filter = filter;
    },
    leave: () => complete(session),
    close: () => open.close(),
  };
  return conversation;
}

/** A session that another process has continued stays active. */
async function complete(session: AgentSession): Promise<void> {
  await session.complete().catch((error: unknown) => {
    if (!(error instanceof AppError) || error.kind !== 'invalid_input') throw error;
  });
}

function searchedIn(turn: ConversationTurn | null): ConversationTurn | null {
  return turn !== null && turn.retrievals.length > 0 ? turn : null;
}

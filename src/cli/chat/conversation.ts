import type { AgentSession } from '../../agent/agent.ts';
import type { OpenedAgent } from '../../app/open-agent.ts';
import { resolveSessionId } from '../../app/sessions.ts';
import type { RetrievalPolicy } from '../../domain/agent-config.ts';
import type { ConversationTurn } from '../../domain/conversation-turn.ts';
import type { Filter } from '../../domain/query.ts';
import type { CalculatePrice } from '../../evaluation/run/model-prices.ts';
import type { SessionStore } from '../../ports/session-store.ts';
import { completeConversation } from '../commands/ask.ts';

/** The state of a chat: slash commands change it, and the next question uses it. */
export interface ChatConversation {
  readonly user: string | undefined;
  policy: RetrievalPolicy;
  filter: Filter;
  /** The names of all collections; empty if they are unknown. */
  collections(): Promise<readonly string[]>;
  /** The models that can be chosen, as far as they are known. */
  models(): Promise<readonly string[]>;
  readonly priceOf: CalculatePrice;
  collection(): string;
  session(): AgentSession;
  sessions(): SessionStore;
  model(): string;
  /** Oldest first. */
  turns(): Promise<ConversationTurn[]>;
  passagesAround: OpenedAgent['passagesAround'];
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

interface ConversationStart
  extends Pick<ChatConversation, 'user' | 'policy' | 'filter' | 'collections' | 'models' | 'priceOf'> {
  open: OpenedAgent;
  session: AgentSession;
  isInteractive: boolean;
  openWith(changed: { model?: string; collection?: string; session?: string }): Promise<OpenedAgent>;
}

export function createChatConversation(start: ConversationStart): ChatConversation {
  let { open, session } = start;
  const { user, policy, filter, collections, models, priceOf } = start;
  const owner = { user, isInteractive: start.isInteractive };

  /** Closes the next agent if its session cannot be opened, else the current one. */
  async function switchAgent(next: OpenedAgent, openSession: () => Promise<AgentSession>): Promise<void> {
    try {
      session = await openSession();
    } catch (error) {
      await next.close();
      throw error;
    }
    const previous = open;
    open = next;
    await previous.close();
  }

  const conversation: ChatConversation = {
    user,
    policy,
    filter,
    collections,
    models,
    priceOf,
    collection: () => open.collection,
    session: () => session,
    sessions: () => open.sessions,
    model: () => open.model,
    turns: () => Array.fromAsync(open.sessions.turns(session.id), ({ turn }) => turn),
    passagesAround: (chunkId) => open.passagesAround(chunkId),
    async resume(sessionId) {
      const next = await open.agent.resumeSession(await resolveSessionId(open.sessions, sessionId));
      if (next.id !== session.id) await completeConversation(session);
      session = next;
    },
    async changeModel(model) {
      const next = await start.openWith({ model, collection: open.collection });
      const { turnCount, segments } = session.snapshot();
      const isNew = turnCount === 0 && segments.length === 0;
      await switchAgent(next, () =>
        isNew ? next.agent.startSession(owner) : next.agent.resumeSession(session.id),
      );
    },
    async changeCollection(name) {
      const next = await start.openWith({ model: open.model, collection: name });
      await switchAgent(next, async () => {
        const started = await next.agent.startSession(owner);
        await completeConversation(session);
        return started;
      });
      conversation.filter = {};
    },
    async changeFilter(filter) {
      await open.assertFilter(filter);
      conversation.filter = filter;
    },
    leave: () => completeConversation(session),
    close: () => open.close(),
  };
  return conversation;
}

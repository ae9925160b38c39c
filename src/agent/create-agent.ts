import { createRetryablePromise } from '../async/retryable-promise.ts';
import { findMarkers } from '../citations/find-markers.ts';
import { createSourceRegister } from '../citations/source-register.ts';
import { createWordChecker } from '../citations/word-checker.ts';
import { systemPromptFor } from '../domain/agent-config.ts';
import type { ConversationMessage } from '../domain/conversation-message.ts';
import { createSession, reopenSession, unknownSessionError } from '../domain/conversation-session.ts';
import type { ConversationTurn } from '../domain/conversation-turn.ts';
import { planWindow } from '../domain/token-budget.ts';
import { advice, viaCommand } from '../faults/advice.ts';
import { AppError } from '../faults/app-error.ts';
import type { SessionStore } from '../ports/session-store.ts';
import { estimateTokens } from '../text/estimate-tokens.ts';
import type { Agent } from './agent.ts';
import { findChangedSources } from './citation-changes.ts';
import { reservedTokens } from './context-budget.ts';
import { createAgentSession, validateQuestion } from './create-agent-session.ts';
import { createAgentBriefing } from './model-input.ts';
import { answerQuestion, type TurnDependencies } from './turn.ts';
import { TurnEvents } from './turn-record.ts';

interface AgentOptions extends Omit<TurnDependencies, 'briefing' | 'window' | 'tracing' | 'checker'> {
  sessions: SessionStore;
  /** Default: by words, without a model. */
  checker?: TurnDependencies['checker'];
  /** The SDK's own tracing; off by default. */
  tracing?: boolean;
}

export function createConversationAgent({ sessions, ...options }: AgentOptions): Agent {
  const { config, store, runtime } = options;
  const briefing = createRetryablePromise(() => createAgentBriefing(store));
  const setup: TurnDependencies = {
    tracing: false,
    checker: createWordChecker({ store, embedder: null }),
    ...options,
    briefing: briefing.get,
    window: { tokens: config.contextWindow },
  };

  return {
    async startSession({ user, isInteractive = false } = {}) {
      // Fails early if no question could ever fit.
      const systemPrompt = systemPromptFor(config, config.policy);
      planWindow(config.contextWindow, reservedTokens(config, systemPrompt, ''));
      const timestamp = runtime.now().toISOString();
      const session = createSession({
        sessionId: runtime.newId(),
        createdAt: timestamp,
        model: config.model,
        policy: config.policy,
        collection: store.name,
        isInteractive,
        systemMessage: {
          id: runtime.newId(),
          role: 'system',
          content: systemPrompt,
          citations: [],
          tokenCount: estimateTokens(systemPrompt),
          timestamp,
          metadata: {},
        },
      });
      const start = { session, lastTurn: null, sources: createSourceRegister(), notices: [] };
      return createAgentSession({ ...start, user: user ?? null }, setup, sessions);
    },

    async resumeSession(sessionId) {
      const found = await sessions.load(sessionId);
      if (found === null) throw unknownSessionError(sessionId);
      const session = reopenSession(found.session);
      if (session.collection !== store.name) {
        throw new AppError(
          'invalid_input',
          `The session ${sessionId} is about the collection "${session.collection}", not "${store.name}".`,
          {
            hint: advice`Continue it${viaCommand('chat', { session: sessionId, collection: session.collection }, ' on that collection')}`,
          },
        );
      }
      const sources = createSourceRegister();
      const turns: ConversationTurn[] = [];
      for await (const { turn } of sessions.turns(sessionId)) {
        for (const { chunks } of turn.retrievals) chunks.forEach(sources.register);
        turns.push(turn);
      }
      const notices = store.chunks === undefined ? [] : await findChangedSources(turns, store);
      const lastTurn = session.turnCount === 0 ? null : (turns.at(-1) ?? null);
      const start = { session, lastTurn, sources, notices };
      return createAgentSession(start, setup, sessions);
    },

    async answer({ question: given, history }, emit, { policy, filter, signal } = {}) {
      const question = validateQuestion(given);
      const events = new TurnEvents(emit);
      try {
        const { turn } = await answerQuestion(
          setup,
          {
            question,
            history: history.map(withoutMarkers),
            policy: policy ?? config.policy,
            filter: filter ?? {},
            signal,
            sources: createSourceRegister(),
            sessionId: runtime.newId(),
            turnNumber: 1,
          },
          events,
        );
        events.complete(turn);
      } catch (error) {
        events.fail(error);
      }
    },
  };
}

/** Removes citation markers: their numbers would now point at other sources. */
function withoutMarkers(message: ConversationMessage): ConversationMessage {
  if (message.role !== 'assistant' || message.content === null) return message;
  let content = '';
  let end = 0;
  for (const marker of findMarkers(message.content)) {
    content += message.content.slice(end, marker.start).trimEnd();
    end = marker.end;
  }
  return { ...message, content: content + message.content.slice(end) };
}

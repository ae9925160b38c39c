import { untilItWorks } from '../async/until-it-works.ts';
import { findMarkers } from '../citations/find-markers.ts';
import { createSourceRegister } from '../citations/source-register.ts';
import type { ConversationMessage } from '../domain/conversation-message.ts';
import { createSession, reopenSession } from '../domain/conversation-session.ts';
import type { ConversationTurn } from '../domain/conversation-turn.ts';
import type { RunEvent } from '../domain/run-event.ts';
import { planWindow } from '../domain/token-budget.ts';
import { advice, command } from '../faults/advice.ts';
import { AppError } from '../faults/app-error.ts';
import type { SessionStore } from '../ports/session-store.ts';
import { estimateTokens } from '../text/estimate-tokens.ts';
import type { Agent, AskOptions } from './agent.ts';
import { briefingFor } from './model-input.ts';
import { createSearchMemory } from './search-memory.ts';
import { createAgentSession } from './session.ts';
import { createContextWindow, fixedNeeds } from './share-window.ts';
import { staleNotices } from './stale-citations.ts';
import { askableQuestion, runTurn } from './turn.ts';
import { createTurnProgress, type TurnDependencies } from './turn-state.ts';

interface AgentDependencies
  extends Omit<TurnDependencies, 'briefing' | 'window' | 'readSource' | 'tracing' | 'findJudge'> {
  sessions: SessionStore;
  findJudge?: TurnDependencies['findJudge'];
  readSource?: boolean;
  /** The SDK's own tracing, which is off unless asked for. */
  tracing?: boolean;
}

export function createConversationAgent({ sessions, ...given }: AgentDependencies): Agent {
  const { config, store, runtime } = given;
  const briefing = untilItWorks(() => briefingFor(config.systemPrompt, store));
  const dependencies: TurnDependencies = {
    readSource: false,
    tracing: false,
    findJudge: async () => null,
    ...given,
    briefing: briefing.get,
    window: createContextWindow(config.contextWindow),
  };

  return {
    async startSession({ user, isInteractive = false } = {}) {
      // What can never be answered is refused before anything is asked.
      planWindow(config.contextWindow, fixedNeeds(config, config.systemPrompt, ''));
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
          content: config.systemPrompt,
          citations: [],
          tokenCount: estimateTokens(config.systemPrompt),
          timestamp,
          metadata: {},
        },
      });
      const start = { session, lastTurn: null, sources: createSourceRegister(), notices: [] };
      return createAgentSession({ ...start, user: user ?? null }, dependencies, sessions);
    },

    async resumeSession(sessionId) {
      const found = await sessions.load(sessionId);
      if (found === null) {
        throw new AppError('invalid_input', `There is no session ${sessionId}.`, {
          hint: advice`See which there are${command('sessions list')}`,
        });
      }
      const session = reopenSession(found.session);
      if (session.collection !== store.name) {
        throw new AppError(
          'invalid_input',
          `The session ${sessionId} is about the collection "${session.collection}", not "${store.name}".`,
          {
            hint: advice`Go on${command('chat', { session: sessionId, collection: session.collection }, ' there')}`,
          },
        );
      }
      const sources = createSourceRegister();
      const turns: ConversationTurn[] = [];
      for await (const { turn } of sessions.turns(sessionId)) {
        for (const { chunks } of turn.retrievals) chunks.forEach(sources.register);
        turns.push(turn);
      }
      const notices = await staleNotices(turns, store);
      const start = { session, lastTurn: turns.at(-1) ?? null, sources, notices };
      return createAgentSession(start, dependencies, sessions);
    },

    answer: (conversation, emit, options) => answerStatelessly(dependencies, conversation, emit, options),
  };
}

/** Answers the last question of a conversation that the caller keeps. Nothing of it stays here. */
async function answerStatelessly(
  dependencies: TurnDependencies,
  conversation: { question: string; history: readonly ConversationMessage[] },
  emit: (event: RunEvent) => void,
  { policy, filter, signal }: AskOptions = {},
): Promise<void> {
  const { config, runtime } = dependencies;
  const question = askableQuestion(conversation.question);
  const progress = createTurnProgress(emit);
  try {
    const { turn } = await runTurn(
      dependencies,
      {
        question,
        history: conversation.history.map(withoutMarkers),
        policy: policy ?? config.policy,
        filter: filter ?? {},
        signal,
        sources: createSourceRegister(),
        searches: createSearchMemory(),
        sessionId: runtime.newId(),
        turnNumber: 1,
      },
      progress,
    );
    progress.complete(turn);
  } catch (error) {
    progress.fail(error);
  }
}

/** What an earlier answer pointed at is not known any more, and its numbers now stand for other sources. */
function withoutMarkers(message: ConversationMessage): ConversationMessage {
  if (message.role !== 'assistant' || message.content === null) return message;
  let content = '';
  let end = 0;
  for (const marker of findMarkers(message.content)) {
    if (marker.label !== null || marker.references.some(({ url }) => url !== null)) continue;
    content += message.content.slice(end, marker.start).trimEnd();
    end = marker.end;
  }
  return { ...message, content: content + message.content.slice(end) };
}

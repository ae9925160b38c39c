import { eventsDuring } from '../async/event-queue.ts';
import { createSourceRegister, type SourceRegister } from '../citations/source-register.ts';
import {
  appendMessages,
  assertOpen,
  type ConversationSession,
  completeSession,
  isOverSoftLimit,
  resetSession,
  SOFT_MESSAGE_LIMIT,
  sessionTotals,
} from '../domain/conversation-session.ts';
import type { ConversationTurn } from '../domain/conversation-turn.ts';
import type { RunEvent } from '../domain/run-event.ts';
import { advice, chatWord, setting } from '../faults/advice.ts';
import { AppError } from '../faults/app-error.ts';
import type { SessionStore } from '../ports/session-store.ts';
import type { AgentSession, AskOptions } from './agent.ts';
import { createSearchMemory } from './search-memory.ts';
import { askableQuestion, type FinishedTurn, runTurn } from './turn.ts';
import { createTurnProgress, type TurnDependencies } from './turn-state.ts';

interface SessionStart {
  session: ConversationSession;
  lastTurn: ConversationTurn | null;
  /** What was retrieved in it so far. */
  sources: SourceRegister;
  /** What the person should hear before the first answer. */
  notices: readonly string[];
  /** Whose it is, if the store has yet to learn of it: a session without a turn is not kept. */
  user?: string | null;
}

/** A conversation from where it stands. Turns are committed before they are reported as completed. */
export function createAgentSession(
  start: SessionStart,
  dependencies: TurnDependencies,
  sessions: SessionStore,
): AgentSession {
  const { config, runtime } = dependencies;
  const searches = createSearchMemory();
  let { session, lastTurn, notices, sources } = start;
  const told = new Set<string>();
  let unknownToStore = start.user === undefined ? undefined : { session, user: start.user };

  return {
    id: session.sessionId,
    snapshot: () => structuredClone(session),
    lastTurn: () => lastTurn,
    ask: (question, options = {}) => eventsDuring((emit) => takeTurn(question, options, emit)),
    async reset() {
      session = resetSession(session, runtime.now().toISOString());
      lastTurn = null;
      told.clear();
      if (unknownToStore === undefined) await sessions.update(session);
    },
    async complete() {
      session = completeSession(session);
      if (unknownToStore === undefined) await sessions.update(session);
    },
  };

  async function takeTurn(
    given: string,
    options: AskOptions,
    emit: (event: RunEvent) => void,
  ): Promise<void> {
    const question = askableQuestion(given);
    refuseWhenOver();
    const progress = createTurnProgress(emit, told);
    const known = sources.lastRef();
    try {
      for (const message of notices) emit({ type: 'notice', message });
      notices = [];
      if (isOverSoftLimit(session)) {
        progress.tellOnce(
          'length',
          `This session has more than ${SOFT_MESSAGE_LIMIT} messages; a reset starts afresh.`,
        );
      }
      const finished = await runTurn(
        dependencies,
        {
          question,
          history: session.messages,
          policy: options.policy ?? session.policy,
          filter: options.filter ?? {},
          attached: options.attached,
          signal: options.signal,
          sources,
          searches,
          sessionId: session.sessionId,
          turnNumber: sessionTotals(session).turnCount + 1,
        },
        progress,
      );
      await commit(finished);
      progress.complete(finished.turn);
    } catch (error) {
      // A turn that is not kept leaves no number behind: whoever resumes the session, or replays it, knows none of it.
      sources = createSourceRegister(sources.entries().filter(({ ref }) => Number(ref) <= known));
      progress.fail(error);
    }
  }

  function refuseWhenOver(): void {
    assertOpen(session);
    if (session.turnCount < config.maxTurns) return;
    throw new AppError('invalid_input', `This session has had its ${config.maxTurns} turns.`, {
      hint: advice`Reset it${chatWord('reset')}, start another one, or raise ${setting('maxTurns')}.`,
    });
  }

  async function commit({ turn, messages }: FinishedTurn): Promise<void> {
    const { retrievalCount, tokensUsed } = turn.response;
    const usage = { retrievals: retrievalCount, tokens: tokensUsed.total };
    const after = { ...appendMessages(session, messages, usage), model: config.model };
    await sessions.commitTurn(after, messages, turn, unknownToStore);
    unknownToStore = undefined;
    session = after;
    lastTurn = turn;
  }
}

import type { AgentConfig } from '../domain/agent-config.ts';
import { AppError } from '../domain/app-error.ts';
import type { ConversationMessage } from '../domain/conversation-message.ts';
import {
  appendMessages,
  type ConversationSession,
  isOverSoftLimit,
  resetSession,
  SOFT_MESSAGE_LIMIT,
  sessionTotals,
} from '../domain/conversation-session.ts';
import { type ConversationTurn, durationBetween, withCited } from '../domain/conversation-turn.ts';
import { toErrorResponse } from '../domain/error-response.ts';
import { estimateTokens } from '../domain/estimate-tokens.ts';
import type { Phase, RunEvent } from '../domain/run-event.ts';
import { fitHistory, splitWindow } from '../domain/token-budget.ts';
import type { Runtime } from '../ports/runtime.ts';
import type { SessionStore } from '../ports/session-store.ts';
import type { AgentSession, AskOptions } from './agent.ts';
import { toAgentResponse } from './agent-response.ts';
import { checkAnswer } from './citations/check-answer.ts';
import type { SourceRegister } from './citations/source-register.ts';
import { createEventQueue } from './event-queue.ts';
import type { TurnOutcome, TurnRequest } from './run-turn.ts';

/** Far more than a question needs: what is longer was piped in by mistake. */
const MAX_QUESTION = 8000;

export interface SessionStart {
  session: ConversationSession;
  lastTurn: ConversationTurn | null;
  /** What the person should hear before the first answer. */
  notices: readonly string[];
  /** Whose it is, if the store has yet to learn of it: a session without a turn is not kept. */
  user?: string | null;
}

export interface SessionDependencies {
  config: AgentConfig;
  sessions: SessionStore;
  sources: SourceRegister;
  runtime: Runtime;
  /** One question through the loop; throws AppErrors only. */
  run(request: TurnRequest): Promise<TurnOutcome>;
}

/** A conversation from where it stands. Turns are committed before they are reported as completed. */
export function createAgentSession(
  start: SessionStart,
  { config, sessions, sources, runtime, run }: SessionDependencies,
): AgentSession {
  let { session, lastTurn } = start;
  let saidDropped = false;
  let saidLong = false;
  let notices = start.notices;
  let begun = start.user === undefined ? undefined : { session, user: start.user };

  return {
    id: session.sessionId,
    snapshot: () => session,
    lastTurn: () => lastTurn,
    async *ask(question, options = {}) {
      refuseUnaskable(question);
      const queue = createEventQueue<RunEvent>();
      const turn = takeTurn(question.trim(), options, queue.push).then(
        () => queue.end(),
        (error: unknown) => queue.end(error),
      );
      try {
        for (let event = await queue.next(); event !== undefined; event = await queue.next()) yield event;
      } finally {
        await turn;
      }
    },
    async reset() {
      session = resetSession(session, runtime.now().toISOString());
      lastTurn = null;
      saidDropped = false;
      saidLong = false;
      if (begun === undefined) await sessions.update(session);
    },
  };

  function refuseUnaskable(question: string): void {
    if (question.trim() === '')
      throw new AppError('invalid_input', 'The question is blank.', { hint: 'Ask something.' });
    if (question.length > MAX_QUESTION) {
      throw new AppError(
        'invalid_input',
        `The question has ${question.length} characters; ${MAX_QUESTION} are allowed.`,
        {
          hint: 'Ask something shorter, and ingest long texts as documents.',
        },
      );
    }
    if (session.turnCount >= config.maxTurns) {
      throw new AppError('invalid_input', `This session has had its ${config.maxTurns} turns.`, {
        hint: 'Reset it with /reset, start another one, or raise AGENT_MAX_TURNS.',
      });
    }
  }

  async function takeTurn(
    question: string,
    options: AskOptions,
    push: (event: RunEvent) => void,
  ): Promise<void> {
    let phase: Phase = 'idle';
    const emit = (event: RunEvent) => {
      if (event.type === 'phase') phase = event.to;
      push(event);
    };
    const started = runtime.elapsedMs();
    const timestamp = runtime.now().toISOString();
    const { signal } = options;
    const policy = options.policy ?? session.policy;
    try {
      for (const message of notices) emit({ type: 'notice', message });
      notices = [];
      const history = fittingHistory(emit);
      const outcome = await run({ question, history, policy, filter: options.filter ?? {}, emit, signal });
      const { answer, citations } = checkAnswer(outcome.answer, sources);
      emit({ type: 'citations', citations });
      const turn = toTurn({ question, timestamp, started, answer, citations, outcome });
      await commit(turn, outcome);
      emit({ type: 'phase', from: phase, to: 'idle' });
      emit({ type: 'turn_completed', turn });
    } catch (error) {
      if (!(error instanceof AppError) || error.kind === 'interrupted') throw error;
      emit({ type: 'phase', from: phase, to: 'error' });
      emit({ type: 'phase', from: 'error', to: 'idle' });
      emit({ type: 'error', error: toErrorResponse(error) });
    }
  }

  function fittingHistory(emit: (event: RunEvent) => void) {
    const limits = { maxTokens: splitWindow(config.contextWindow).history, maxMessages: config.maxHistory };
    const { messages, dropped } = fitHistory(withoutOldSearches(session.messages), limits);
    if (dropped.length > 0 && !saidDropped) {
      saidDropped = true;
      emit({ type: 'notice', message: 'The oldest messages no longer fit and are left out from here on.' });
    }
    if (isOverSoftLimit(session) && !saidLong) {
      saidLong = true;
      const message = `This session has more than ${SOFT_MESSAGE_LIMIT} messages; /reset starts afresh.`;
      emit({ type: 'notice', message });
    }
    return messages;
  }

  function toTurn(parts: {
    question: string;
    timestamp: string;
    started: number;
    answer: string;
    citations: ReturnType<typeof checkAnswer>['citations'];
    outcome: TurnOutcome;
  }): ConversationTurn {
    const { question, timestamp, started, answer, citations, outcome } = parts;
    const { retrievals, retrievalCount, retrievalTimeMs } = outcome.record;
    const ended = runtime.elapsedMs();
    return {
      turnId: runtime.newId(),
      userQuery: question,
      retrievals,
      response: toAgentResponse({
        answer,
        citations,
        query: question,
        sessionId: session.sessionId,
        turnNumber: sessionTotals(session).turnCount + 1,
        model: config.model,
        tokensUsed: outcome.tokensUsed,
        retrievals,
        retrievalCount,
        retrievalTimeMs,
        totalTimeMs: ended - started,
        error: outcome.searchFault && toErrorResponse(outcome.searchFault),
        timestamp,
      }),
      timestamp,
      durationSeconds: durationBetween(started, ended),
      decisions: withCited(outcome.record.endSteps(), citations),
    };
  }

  async function commit(turn: ConversationTurn, { record, tokensUsed }: TurnOutcome): Promise<void> {
    const { answer, citations } = turn.response;
    const messages = [
      ...record.messages,
      {
        id: runtime.newId(),
        role: 'assistant' as const,
        content: answer,
        toolCalls: [],
        citations,
        tokenCount: estimateTokens(answer),
        timestamp: runtime.now().toISOString(),
        metadata: {},
      },
    ];
    const usage = { retrievals: record.retrievalCount, tokens: tokensUsed.total };
    const after = { ...appendMessages(session, messages, usage), model: config.model };
    await sessions.commitTurn(after, messages, turn, begun);
    begun = undefined;
    session = after;
    lastTurn = turn;
  }
}

/** Of earlier turns only what was said stays; what was found for them can be searched for again. */
function withoutOldSearches(messages: readonly ConversationMessage[]): ConversationMessage[] {
  const lastTurn = messages.findLastIndex(({ role }) => role === 'user');
  return messages.filter(
    (message, index) =>
      index > lastTurn ||
      (message.role !== 'tool' && !(message.role === 'assistant' && message.toolCalls.length > 0)),
  );
}

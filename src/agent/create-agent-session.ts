import { createConcurrencyGate } from '../async/concurrency-gate.ts';
import { streamWorkEvents } from '../async/event-queue.ts';
import { createSourceRegister, type SourceRegister } from '../citations/source-register.ts';
import type { AgentConfig } from '../domain/agent-config.ts';
import {
  appendMessages,
  assertSessionOpen,
  type ConversationSession,
  completeSession,
  isOverSoftLimit,
  resetSession,
  SOFT_MESSAGE_LIMIT,
  sessionTotals,
} from '../domain/conversation-session.ts';
import type { ConversationTurn } from '../domain/conversation-turn.ts';
import { advice, settingName, slashCommand } from '../faults/advice.ts';
import { AppError } from '../faults/app-error.ts';
import type { SessionStore } from '../ports/session-store.ts';
import type { AgentSession, AskOptions } from './agent.ts';
import { toAppError } from './guards/model-errors.ts';
import { answerQuestion, type TurnDependencies } from './turn.ts';
import { TurnEvents } from './turn-record.ts';

/** Longer questions are probably piped in by mistake. */
const MAX_QUESTION_CHARACTERS = 8000;

interface SessionStart {
  session: ConversationSession;
  lastTurn: ConversationTurn | null;
  /** The sources retrieved so far. */
  sources: SourceRegister;
  /** Emitted before the first answer. */
  notices: readonly string[];
  /** The owner, if the store does not have the session yet: it is stored with its first turn. */
  user?: string | null;
}

/** A session that continues from `start`. A turn is committed to the store before `turn_completed` is emitted. */
export function createAgentSession(
  start: SessionStart,
  setup: TurnDependencies,
  sessions: SessionStore,
): AgentSession {
  const { config, runtime } = setup;
  const noticed = new Set<string>();
  const turns = createConcurrencyGate({ concurrent: 1 });
  let { session, lastTurn, notices, sources } = start;
  let unsaved = start.user === undefined ? undefined : { session, user: start.user };

  async function ask(given: string, options: AskOptions, events: TurnEvents): Promise<void> {
    const question = validateQuestion(given);
    assertTurnsLeft(session, config);
    const lastRef = sources.lastRef();
    try {
      for (const message of notices) events.emit({ type: 'notice', message });
      notices = [];
      if (isOverSoftLimit(session)) {
        const message = `This session has more than ${SOFT_MESSAGE_LIMIT} messages. Reset it to start over.`;
        events.noticeOnce('length', message);
      }
      const { turn, messages } = await answerQuestion(
        setup,
        {
          question,
          history: session.messages,
          lastCitations: lastTurn?.response.citations,
          policy: options.policy ?? session.policy,
          filter: options.filter ?? {},
          attached: options.attached,
          signal: options.signal,
          sources,
          sessionId: session.sessionId,
          turnNumber: sessionTotals(session).turnCount + 1,
        },
        events,
      );
      const { retrievalCount, tokensUsed } = turn.response;
      const usage = { retrievals: retrievalCount, tokens: tokensUsed.total };
      const after = { ...appendMessages(session, messages, usage), model: config.model };
      await sessions.commitTurn(after, messages, turn, unsaved);
      unsaved = undefined;
      session = after;
      lastTurn = turn;
      events.complete(turn);
    } catch (error) {
      // Refs of a turn that is not stored are given to the next sources, as they are after a resume.
      sources = createSourceRegister(sources.entries().filter(({ ref }) => Number(ref) <= lastRef));
      events.fail(error);
    }
  }

  return {
    id: session.sessionId,
    snapshot: () => structuredClone(session),
    lastTurn: () => lastTurn,
    ask: (question, options = {}) =>
      streamWorkEvents(async (emit, stopped) => {
        const signal = options.signal === undefined ? stopped : AbortSignal.any([options.signal, stopped]);
        const leave = await turns.enter(signal).catch((error: unknown) => {
          throw toAppError(error, { signal });
        });
        try {
          await ask(question, { ...options, signal }, new TurnEvents(emit, noticed));
        } finally {
          leave();
        }
      }),
    async reset() {
      session = resetSession(session, runtime.now().toISOString());
      lastTurn = null;
      noticed.clear();
      if (unsaved === undefined) await sessions.update(session);
    },
    async complete() {
      session = completeSession(session);
      if (unsaved === undefined) await sessions.update(session);
    },
  };
}

/** The question without surrounding white space. Throws `invalid_input` if it is blank or too long. */
export function validateQuestion(given: string): string {
  const question = given.trim();
  if (question === '')
    throw new AppError('invalid_input', 'The question is blank.', { hint: 'Ask something.' });
  if (given.length <= MAX_QUESTION_CHARACTERS) return question;
  throw new AppError(
    'invalid_input',
    `The question has ${given.length} characters; ${MAX_QUESTION_CHARACTERS} are allowed.`,
    { hint: 'Ask something shorter, and ingest long texts as documents.' },
  );
}

function assertTurnsLeft(session: ConversationSession, { maxTurns }: AgentConfig): void {
  assertSessionOpen(session);
  if (session.turnCount < maxTurns) return;
  throw new AppError('invalid_input', `This session has reached its limit of ${maxTurns} turns.`, {
    hint: advice`Reset it${slashCommand('reset')}, start another one, or raise ${settingName('maxTurns')}.`,
  });
}

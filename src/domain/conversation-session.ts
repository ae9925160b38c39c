import * as z from 'zod';
import { advice, command } from '../faults/advice.ts';
import { AppError } from '../faults/app-error.ts';
import { oneLine } from '../text/visible-text.ts';
import { policySchema } from './agent-config.ts';
import {
  type ConversationMessage,
  conversationMessageSchema,
  type SystemMessage,
} from './conversation-message.ts';

/** More messages than this are allowed, but the user should hear that a reset would help. */
export const SOFT_MESSAGE_LIMIT = 100;

const count = z.int().min(0);
const counters = { turnCount: count, retrievalCount: count, totalTokensUsed: count };

/** What a session had counted when it was reset. */
const closedSegmentSchema = z.object({ ...counters, messageCount: count, closedAt: z.iso.datetime() });

export const sessionStatusSchema = z.enum(['created', 'active', 'completed']);

export const conversationSessionSchema = z.object({
  sessionId: z.uuidv4(),
  status: sessionStatusSchema,
  /** Whether a person types in it, at a terminal or on a page; not a single question, and not a program. */
  isInteractive: z.boolean().default(false),
  messages: z
    .array(conversationMessageSchema)
    .refine((messages) => messages[0]?.role === 'system', {
      error: 'the first message must be the system message',
    })
    .refine(takeTurns, { error: 'user and assistant must take turns, the user first' }),
  createdAt: z.iso.datetime(),
  model: z.string().min(1),
  policy: policySchema,
  collection: z.string().min(1),
  /** Counted since the last reset, like the messages. */
  ...counters,
  segments: z.array(closedSegmentSchema).default([]),
});
export type ConversationSession = z.infer<typeof conversationSessionSchema>;

type SessionStart = Pick<
  ConversationSession,
  'sessionId' | 'createdAt' | 'model' | 'policy' | 'collection'
> & {
  systemMessage: SystemMessage;
  isInteractive?: boolean;
};

export function createSession({
  systemMessage,
  isInteractive = false,
  ...start
}: SessionStart): ConversationSession {
  return {
    ...start,
    isInteractive,
    status: 'created',
    messages: [systemMessage],
    turnCount: 0,
    retrievalCount: 0,
    totalTokensUsed: 0,
    segments: [],
  };
}

interface Usage {
  /** Retrievals that went with the messages; when absent, each tool result is one. */
  retrievals?: number;
  tokens?: number;
}

/**
 * Adds messages and counts them: every user message opens a turn. Throws `invalid_input` once completed, and if
 * questions and answers would no longer take turns.
 */
export function appendMessages(
  session: ConversationSession,
  messages: readonly ConversationMessage[],
  usage: Usage = {},
): ConversationSession {
  assertOpen(session);
  assertTakingTurns([...session.messages.slice(session.messages.findLastIndex(isQuestion)), ...messages]);
  if (messages.some(({ role }) => role === 'system')) {
    throw new AppError('invalid_input', 'A session has one system message, its first.');
  }
  return {
    ...session,
    status: 'active',
    messages: [...session.messages, ...messages],
    turnCount: session.turnCount + countRole(messages, 'user'),
    retrievalCount: session.retrievalCount + (usage.retrievals ?? countRole(messages, 'tool')),
    totalTokensUsed: session.totalTokensUsed + (usage.tokens ?? 0),
  };
}

/** Forgets the conversation: what it counted becomes a closed segment; the system message and the id stay. */
export function resetSession(session: ConversationSession, closedAt: string): ConversationSession {
  assertOpen(session);
  const { turnCount, retrievalCount, totalTokensUsed } = session;
  const messageCount = session.messages.length;
  return {
    ...session,
    messages: session.messages.slice(0, 1),
    turnCount: 0,
    retrievalCount: 0,
    totalTokensUsed: 0,
    segments: [...session.segments, { turnCount, retrievalCount, totalTokensUsed, messageCount, closedAt }],
  };
}

/** Nobody is in it any more. */
export function completeSession(session: ConversationSession): ConversationSession {
  return { ...session, status: 'completed' };
}

/** Somebody goes on with it. Throws `invalid_input` for a record whose questions and answers do not take turns. */
export function reopenSession(session: ConversationSession): ConversationSession {
  assertTakingTurns(session.messages);
  return session.status === 'completed' ? { ...session, status: 'active' } : session;
}

export function isOverSoftLimit(session: ConversationSession): boolean {
  return session.messages.length > SOFT_MESSAGE_LIMIT;
}

/** What was counted in all, closed segments included. */
export function sessionTotals(session: ConversationSession) {
  const all = [...session.segments, session];
  const sum = (counter: keyof typeof counters) => all.reduce((total, part) => total + part[counter], 0);
  return {
    turnCount: sum('turnCount'),
    retrievalCount: sum('retrievalCount'),
    totalTokensUsed: sum('totalTokensUsed'),
  };
}

/** Throws `invalid_input` for one that is completed. */
export function assertOpen({ status, sessionId }: ConversationSession): void {
  if (status !== 'completed') return;
  throw new AppError('invalid_input', `The session ${sessionId} is completed.`, {
    hint: advice`Take it up again${command('chat', { session: sessionId }, ' by resuming it')}, or start a new one.`,
  });
}

/** Whether the user asks and the assistant answers by turns; tool calls and their results belong to the answer. */
function takeTurns(messages: readonly ConversationMessage[]): boolean {
  let isAsked = false;
  for (const message of messages) {
    if (message.role === 'system') continue;
    if (isQuestion(message) === isAsked) return false;
    isAsked = !(message.role === 'assistant' && message.toolCalls.length === 0);
  }
  return true;
}

function assertTakingTurns(messages: readonly ConversationMessage[]): void {
  if (takeTurns(messages)) return;
  throw new AppError('invalid_input', 'In a session the user asks and the assistant answers, by turns.', {
    hint: 'Put the messages in order, a question before each answer.',
  });
}

function isQuestion({ role }: ConversationMessage): boolean {
  return role === 'user';
}

function countRole(messages: readonly ConversationMessage[], role: ConversationMessage['role']): number {
  return messages.filter((message) => message.role === role).length;
}

/** How far a session has come: its newest turn's number, and how often it was reset. */
interface Progress {
  turns: number;
  segments: number;
}

/**
 * Throws `invalid_input` if a change was made from an older state of the session than is kept: someone went
 * on with it elsewhere, and counters or messages would be lost.
 */
export function assertCurrent(sessionId: string, seen: Progress, kept: Progress): void {
  if (seen.turns >= kept.turns && seen.segments >= kept.segments) return;
  throw new AppError('invalid_input', `The session ${sessionId} was continued elsewhere in the meantime.`, {
    hint: 'Resume it to go on from there, or start a new one.',
  });
}

export function unknownSession(sessionId: string): AppError {
  return new AppError('invalid_input', `There is no session "${sessionId}".`, {
    hint: advice`See which there are${command('sessions list')}`,
  });
}

export function takenSessionId(sessionId: string): AppError {
  return new AppError('invalid_input', `There is already a session ${sessionId}.`, {
    hint: 'Resume it, or start one with another id.',
  });
}

/** Enough of a question to know it by; a pasted page would make every list slow. */
const MAX_TITLE = 200;

/** What a session is listed by: its first question, on one line. */
export function sessionTitle(firstQuestion: string): string {
  return oneLine(firstQuestion, MAX_TITLE);
}

import * as z from 'zod';
import { advice, viaCommand } from '../faults/advice.ts';
import { AppError } from '../faults/app-error.ts';
import { oneLine } from '../text/visible-text.ts';
import { policySchema } from './agent-config.ts';
import {
  type ConversationMessage,
  conversationMessageSchema,
  type SystemMessage,
} from './conversation-message.ts';

/** With more messages than this, the user gets a notice. */
export const SOFT_MESSAGE_LIMIT = 100;

const count = z.int().min(0);
const counters = { turnCount: count, retrievalCount: count, totalTokensUsed: count };
const NO_TURNS = { turnCount: 0, retrievalCount: 0, totalTokensUsed: 0 };

/** The counters of a session up to a reset. */
const closedSegmentSchema = z.object({ ...counters, messageCount: count, closedAt: z.iso.datetime() });

export const sessionStatusSchema = z.enum(['created', 'active', 'completed']);

export const conversationSessionSchema = z.object({
  sessionId: z.uuidv4(),
  status: sessionStatusSchema,
  /** Whether a person types the questions, in a chat at a terminal or on a page. */
  isInteractive: z.boolean().default(false),
  messages: z
    .array(conversationMessageSchema)
    .refine((messages) => messages[0]?.role === 'system', {
      error: 'the first message must be the system message',
    })
    .refine(isAlternating, { error: 'user and assistant messages must alternate, the user first' }),
  createdAt: z.iso.datetime(),
  model: z.string().min(1),
  policy: policySchema,
  collection: z.string().min(1),
  /** Since the last reset, like the messages. */
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
    ...NO_TURNS,
    segments: [],
  };
}

/** Adds messages and counts them: each user message is a turn, each tool result by default a retrieval. Throws `invalid_input` if completed or out of order. */
export function appendMessages(
  session: ConversationSession,
  messages: readonly ConversationMessage[],
  usage: { retrievals?: number; tokens?: number } = {},
): ConversationSession {
  assertSessionOpen(session);
  assertAlternating([...session.messages.slice(session.messages.findLastIndex(isQuestion)), ...messages]);
  if (messages.some(({ role }) => role === 'system')) {
    throw new AppError('invalid_input', 'A session has only one system message, the first.');
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

/** Removes all messages but the system message; the counters become a closed segment. */
export function resetSession(session: ConversationSession, closedAt: string): ConversationSession {
  assertSessionOpen(session);
  const { turnCount, retrievalCount, totalTokensUsed } = session;
  const messageCount = session.messages.length;
  return {
    ...session,
    messages: session.messages.slice(0, 1),
    ...NO_TURNS,
    segments: [...session.segments, { turnCount, retrievalCount, totalTokensUsed, messageCount, closedAt }],
  };
}

export function completeSession(session: ConversationSession): ConversationSession {
  return { ...session, status: 'completed' };
}

/** Makes a completed session active again. Throws `invalid_input` if its messages are out of order. */
export function reopenSession(session: ConversationSession): ConversationSession {
  assertAlternating(session.messages);
  return session.status === 'completed' ? { ...session, status: 'active' } : session;
}

export function isOverSoftLimit(session: ConversationSession): boolean {
  return session.messages.length > SOFT_MESSAGE_LIMIT;
}

/** The counters of all segments. */
export function sessionTotals(session: ConversationSession) {
  const all = [...session.segments, session];
  const sum = (counter: keyof typeof counters) => all.reduce((total, part) => total + part[counter], 0);
  return {
    turnCount: sum('turnCount'),
    retrievalCount: sum('retrievalCount'),
    totalTokensUsed: sum('totalTokensUsed'),
  };
}

/** Throws `invalid_input` for a completed session. */
export function assertSessionOpen({ status, sessionId }: ConversationSession): void {
  if (status !== 'completed') return;
  throw new AppError('invalid_input', `The session ${sessionId} is completed.`, {
    hint: advice`Resume it${viaCommand('chat', { session: sessionId })}, or start a new one.`,
  });
}

/** Whether questions and answers alternate; tool calls and their results belong to the answer. */
function isAlternating(messages: readonly ConversationMessage[]): boolean {
  let isOpen = false;
  for (const message of messages) {
    if (message.role === 'system') continue;
    if (isQuestion(message) === isOpen) return false;
    isOpen = !(message.role === 'assistant' && message.toolCalls.length === 0);
  }
  return true;
}

function assertAlternating(messages: readonly ConversationMessage[]): void {
  if (isAlternating(messages)) return;
  throw new AppError('invalid_input', 'User and assistant messages must alternate.', {
    hint: 'Put a question before each answer.',
  });
}

function isQuestion({ role }: ConversationMessage): boolean {
  return role === 'user';
}

/** Each turn begins with a user message; the system message comes before the first. */
export function splitTurns(messages: readonly ConversationMessage[]): ConversationMessage[][] {
  const turns: ConversationMessage[][] = [];
  for (const message of messages) {
    if (isQuestion(message) || turns.length === 0) turns.push([]);
    turns.at(-1)?.push(message);
  }
  return turns;
}

function countRole(messages: readonly ConversationMessage[], role: ConversationMessage['role']): number {
  return messages.filter((message) => message.role === role).length;
}

export function unknownSessionError(sessionId: string): AppError {
  return new AppError('invalid_input', `There is no session "${sessionId}".`, {
    hint: advice`List the sessions${viaCommand('sessions list')}`,
  });
}

const MAX_TITLE_LENGTH = 200;

/** The title of a session in lists: its first question on one line. */
export function sessionTitle(firstQuestion: string): string {
  return oneLine(firstQuestion, MAX_TITLE_LENGTH);
}

import * as z from 'zod';
import { policySchema } from './agent-config.ts';
import { AppError } from './app-error.ts';
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
export const closedSegmentSchema = z.object({ ...counters, messageCount: count, closedAt: z.iso.datetime() });
export type ClosedSegment = z.infer<typeof closedSegmentSchema>;

export const conversationSessionSchema = z.object({
  sessionId: z.uuidv4(),
  status: z.enum(['created', 'active', 'completed']),
  messages: z.array(conversationMessageSchema).refine((messages) => messages[0]?.role === 'system', {
    error: 'the first message must be the system message',
  }),
  createdAt: z.iso.datetime(),
  model: z.string().min(1),
  policy: policySchema,
  collection: z.string().min(1),
  /** Counted since the last reset, like the messages. */
  ...counters,
  segments: z.array(closedSegmentSchema).default([]),
});
export type ConversationSession = z.infer<typeof conversationSessionSchema>;
export type SessionStatus = ConversationSession['status'];

type SessionStart = Pick<
  ConversationSession,
  'sessionId' | 'createdAt' | 'model' | 'policy' | 'collection'
> & {
  systemMessage: SystemMessage;
};

export function createSession({ systemMessage, ...start }: SessionStart): ConversationSession {
  return {
    ...start,
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

/** Adds messages and counts them: every user message opens a turn. Throws `invalid_input` once completed. */
export function appendMessages(
  session: ConversationSession,
  messages: readonly ConversationMessage[],
  usage: Usage = {},
): ConversationSession {
  refuseCompleted(session);
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
  refuseCompleted(session);
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

export function completeSession(session: ConversationSession): ConversationSession {
  return { ...session, status: 'completed' };
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

function refuseCompleted(session: ConversationSession): void {
  if (session.status !== 'completed') return;
  throw new AppError('invalid_input', `The session ${session.sessionId} is completed.`, {
    hint: 'Start a new one with: citeloop chat',
  });
}

function countRole(messages: readonly ConversationMessage[], role: ConversationMessage['role']): number {
  return messages.filter((message) => message.role === role).length;
}

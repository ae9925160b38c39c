import * as z from 'zod';
import { policySchema } from '../../../domain/agent-config.ts';
import { type ConversationSession, conversationSessionSchema } from '../../../domain/conversation-session.ts';
import { conversationTurnSchema } from '../../../domain/conversation-turn.ts';
import { validated } from '../../../domain/validated.ts';
import type { Feedback, RecordedTurn, SessionSummary } from '../../../ports/session-store.ts';
import { damagedSession } from './session-fault.ts';

/** A row as it is in the file, which anyone may have changed. */
export type Row = Record<string, unknown>;

const summarySchema: z.ZodType<SessionSummary> = z.object({
  sessionId: z.uuidv4(),
  user: z.string().nullable(),
  title: z.string().nullable(),
  model: z.string().min(1),
  policy: policySchema,
  collection: z.string().min(1),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
  turnCount: z.int().min(0),
  retrievalCount: z.int().min(0),
  totalTokensUsed: z.int().min(0),
});

const feedbackSchema: z.ZodType<Feedback> = z.object({
  verdict: z.enum(['good', 'bad']),
  why: z.string().nullable(),
  at: z.iso.datetime(),
});

export function toSummary(row: Row): SessionSummary {
  return readBack(String(row.session_id), 'its entry', summarySchema, () => ({
    sessionId: row.session_id,
    user: row.user,
    title: row.title,
    model: row.model,
    policy: row.policy,
    collection: row.collection,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    turnCount: row.all_turns,
    retrievalCount: row.all_retrievals,
    totalTokensUsed: row.all_tokens,
  }));
}

export function toSession(
  row: Row,
  { messages, segments }: { messages: Row[]; segments: Row[] },
): ConversationSession {
  return readBack(String(row.session_id), 'its conversation', conversationSessionSchema, () => ({
    sessionId: row.session_id,
    status: row.status,
    messages: messages.map(bodyOf),
    createdAt: row.created_at,
    model: row.model,
    policy: row.policy,
    collection: row.collection,
    turnCount: row.turn_count,
    retrievalCount: row.retrieval_count,
    totalTokensUsed: row.total_tokens_used,
    segments: segments.map(bodyOf),
  }));
}

export function toRecordedTurn(sessionId: string, row: Row): RecordedTurn {
  const what = `turn ${row.number}`;
  return {
    turn: readBack(sessionId, what, conversationTurnSchema, () => bodyOf(row)),
    feedback: readBack(sessionId, `the verdict on ${what}`, z.nullable(feedbackSchema), () =>
      row.feedback === null ? null : JSON.parse(String(row.feedback)),
    ),
  };
}

function bodyOf(row: Row): unknown {
  return JSON.parse(String(row.body));
}

/** Throws `retrieval_error` that names the session and the part of it. */
function readBack<Schema extends z.ZodType>(
  sessionId: string,
  what: string,
  schema: Schema,
  read: () => unknown,
): z.infer<Schema> {
  try {
    return validated(schema, read(), what);
  } catch (error) {
    throw damagedSession(sessionId, what, error);
  }
}

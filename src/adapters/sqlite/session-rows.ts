import type { DatabaseSync } from 'node:sqlite';
import * as z from 'zod';
import type { ConversationMessage } from '../../domain/conversation-message.ts';
import {
  type ConversationSession,
  conversationSessionSchema,
  sessionTitle,
  sessionTotals,
  unknownSessionError,
} from '../../domain/conversation-session.ts';
import { type ConversationTurn, conversationTurnSchema } from '../../domain/conversation-turn.ts';
import { migrateRecord } from '../../domain/migrate-record.ts';
import { advice, viaCommand } from '../../faults/advice.ts';
import { AppError, messageOf } from '../../faults/app-error.ts';
import { parseOrThrow } from '../../faults/parse-or-throw.ts';
import type { RecordedTurn, SessionSummary } from '../../ports/session-store.ts';

/** The methods run inside the caller's transaction and throw `invalid_input`. */
export function createSessionWriter(database: DatabaseSync) {
  const statements = prepareStatements(database);

  /** The id of the session's row. Throws if another process added a turn or reset the session. */
  function currentId(session: ConversationSession, turns: number): number {
    const row = statements.findSession.get(session.sessionId);
    if (row === undefined) throw unknownSessionError(session.sessionId);
    if (turns < Number(row.turns) || session.segments.length < Number(row.segment)) {
      throw new AppError('invalid_input', `The session ${session.sessionId} was continued elsewhere.`, {
        hint: 'Resume it to continue from there, or start a new one.',
      });
    }
    return Number(row.id);
  }

  function save(id: number, session: ConversationSession): void {
    statements.updateSession.run({ id, ...changingColumns(session) });
    writeSegments(id, session);
  }

  /** Newly closed segments, and the system message of the current one. */
  function writeSegments(id: number, { segments, messages }: ConversationSession): void {
    if (segments.length > 0) statements.insertSegments.run({ id, segments: JSON.stringify(segments) });
    statements.putSystemMessage.run(id, segments.length, JSON.stringify(messages[0]));
  }

  function append(id: number, segment: number, messages: readonly ConversationMessage[]): void {
    if (messages.length > 0)
      statements.appendMessages.run({ id, segment, messages: JSON.stringify(messages) });
  }

  function insertTurn(id: number, turn: ConversationTurn): void {
    statements.insertTurn.run(id, turn.response.turnNumber, JSON.stringify(turn));
    statements.setTitle.run(sessionTitle(turn.userQuery), id);
  }

  return {
    /** Throws if the id is taken. */
    insert(session: ConversationSession, user: string | null, turns: readonly ConversationTurn[] = []): void {
      const { sessionId: session_id, createdAt: created_at } = session;
      const is_interactive = Number(session.isInteractive);
      const fixed = { session_id, user, created_at, is_interactive };
      const row = statements.insertSession.get({ ...fixed, ...changingColumns(session) });
      if (row === undefined) {
        throw new AppError('invalid_input', `The session ${session_id} already exists.`, {
          hint: 'Resume it, or use another id.',
        });
      }
      writeSegments(Number(row.id), session);
      append(Number(row.id), session.segments.length, session.messages.slice(1));
      for (const turn of turns) insertTurn(Number(row.id), turn);
    },
    /** Throws if there is no such session or another process continued it. */
    update(session: ConversationSession): void {
      save(currentId(session, sessionTotals(session).turnCount), session);
    },
    /** Throws like `update`. */
    addTurn(
      session: ConversationSession,
      messages: readonly ConversationMessage[],
      turn: ConversationTurn,
    ): void {
      const id = currentId(session, turn.response.turnNumber - 1);
      save(id, session);
      append(id, session.segments.length, messages);
      insertTurn(id, turn);
    },
  };
}

/** The columns of a session that change with every turn. */
const CHANGING_COLUMNS: Record<string, (session: ConversationSession) => string | number> = {
  status: ({ status }) => status,
  model: ({ model }) => model,
  policy: ({ policy }) => policy,
  collection: ({ collection }) => collection,
  updated_at: () => new Date().toISOString(),
  segment: ({ segments }) => segments.length,
  turn_count: ({ turnCount }) => turnCount,
  retrieval_count: ({ retrievalCount }) => retrievalCount,
  total_tokens_used: ({ totalTokensUsed }) => totalTokensUsed,
  all_turns: (session) => sessionTotals(session).turnCount,
  all_retrievals: (session) => sessionTotals(session).retrievalCount,
  all_tokens: (session) => sessionTotals(session).totalTokensUsed,
};

function changingColumns(session: ConversationSession): Record<string, string | number> {
  return Object.fromEntries(Object.entries(CHANGING_COLUMNS).map(([name, read]) => [name, read(session)]));
}

/** Parameters have names where one is used twice: Node 22 binds `?1` wrongly. */
function prepareStatements(database: DatabaseSync) {
  const changing = Object.keys(CHANGING_COLUMNS);
  const inserted = ['session_id', 'user', 'created_at', 'is_interactive', ...changing];
  const nextTouched = '(SELECT coalesce(max(touched), 0) + 1 FROM session)';
  return {
    insertSession: database.prepare(
      `INSERT INTO session (touched, ${inserted.join(', ')})
       VALUES (${nextTouched}, ${inserted.map((name) => `:${name}`).join(', ')})
       ON CONFLICT (session_id) DO NOTHING RETURNING id`,
    ),
    findSession: database.prepare(
      `SELECT id, segment, (SELECT max(number) FROM turn WHERE session = id) AS turns
       FROM session WHERE session_id = ?`,
    ),
    updateSession: database.prepare(
      `UPDATE session SET touched = ${nextTouched}, ${changing.map((name) => `${name} = :${name}`).join(', ')}
       WHERE id = :id`,
    ),
    setTitle: database.prepare('UPDATE session SET title = ? WHERE id = ? AND title IS NULL'),
    insertSegments: database.prepare(
      `INSERT INTO closed_segment (session, segment, body)
       SELECT :id, key, value FROM json_each(:segments)
       WHERE key >= (SELECT count(*) FROM closed_segment WHERE session = :id)`,
    ),
    putSystemMessage: database.prepare(
      `INSERT INTO message (session, segment, position, body) VALUES (?, ?, 0, ?)
       ON CONFLICT DO UPDATE SET body = excluded.body WHERE body <> excluded.body`,
    ),
    appendMessages: database.prepare(
      `INSERT INTO message (session, segment, position, body)
       SELECT :id, :segment, 1 + key + (SELECT max(position) FROM message WHERE session = :id AND segment = :segment), value
       FROM json_each(:messages)`,
    ),
    insertTurn: database.prepare('INSERT INTO turn (session, number, body) VALUES (?, ?, ?)'),
  };
}

/** Not validated: other programs may have changed the file. */
export type SessionRow = Record<string, unknown>;

const summarySchema: z.ZodType<SessionSummary> = conversationSessionSchema
  .omit({ messages: true, segments: true })
  .extend({
    user: z.string().nullable(),
    title: z.string().nullable(),
    updatedAt: z.iso.datetime(),
  });

/** The fields that summaries and sessions have in common. */
function commonFields(row: SessionRow) {
  return {
    sessionId: row.session_id,
    status: row.status,
    isInteractive: row.is_interactive === 1,
    model: row.model,
    policy: row.policy,
    collection: row.collection,
    createdAt: row.created_at,
  };
}

export function rowToSummary(row: SessionRow): SessionSummary {
  return parseRecord(String(row.session_id), 'its summary', summarySchema, () => ({
    ...commonFields(row),
    user: row.user,
    title: row.title,
    updatedAt: row.updated_at,
    turnCount: row.all_turns,
    retrievalCount: row.all_retrievals,
    totalTokensUsed: row.all_tokens,
  }));
}

export function rowToSession(
  row: SessionRow,
  { messages, segments }: { messages: SessionRow[]; segments: SessionRow[] },
): ConversationSession {
  return parseRecord(String(row.session_id), 'the conversation', conversationSessionSchema, () => ({
    ...commonFields(row),
    messages: messages.map(parseBody),
    turnCount: row.turn_count,
    retrievalCount: row.retrieval_count,
    totalTokensUsed: row.total_tokens_used,
    segments: segments.map(parseBody),
  }));
}

export function rowToTurn(sessionId: string, row: SessionRow): RecordedTurn {
  return { turn: parseRecord(sessionId, `turn ${row.number}`, conversationTurnSchema, () => parseBody(row)) };
}

function parseBody(row: SessionRow): unknown {
  return JSON.parse(String(row.body));
}

/** Throws `retrieval_error` if the part of the session cannot be read. */
function parseRecord<Schema extends z.ZodType>(
  sessionId: string,
  part: string,
  schema: Schema,
  read: () => unknown,
): z.infer<Schema> {
  try {
    return parseOrThrow(schema, migrateRecord(read()), part);
  } catch (error) {
    throw new AppError(
      'retrieval_error',
      `The session ${sessionId} is damaged: ${part} cannot be read (${messageOf(error)}).`,
      {
        hint: advice`Restore it from a backup, or remove it${viaCommand(`sessions delete ${sessionId}`)}`,
        cause: error,
      },
    );
  }
}

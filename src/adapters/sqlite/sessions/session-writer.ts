import type { DatabaseSync } from 'node:sqlite';
import type { ConversationMessage } from '../../../domain/conversation-message.ts';
import { type ConversationSession, sessionTotals } from '../../../domain/conversation-session.ts';
import type { ConversationTurn } from '../../../domain/conversation-turn.ts';
import { assertCurrent, takenSessionId, unknownSession } from '../../../domain/session-conflict.ts';
import { sessionTitle } from '../../../domain/session-title.ts';

// Each of these runs inside the caller's transaction.

const NEXT_TOUCHED = '(SELECT coalesce(max(touched), 0) + 1 FROM session)';

/** Throws `invalid_input` if the id is taken. */
export function insertSession(
  database: DatabaseSync,
  session: ConversationSession,
  user: string | null,
): void {
  const { sessionId, createdAt } = session;
  const columns = { session_id: sessionId, user, created_at: createdAt, ...changingColumns(session) };
  const names = Object.keys(columns);
  const row = database
    .prepare(
      `INSERT INTO session (touched, ${names.join(', ')})
       VALUES (${NEXT_TOUCHED}, ${names.map(() => '?').join(', ')})
       ON CONFLICT (session_id) DO NOTHING RETURNING id`,
    )
    .get(...Object.values(columns));
  if (row === undefined) throw takenSessionId(sessionId);
  writeSegments(database, Number(row.id), session);
  appendMessages(database, Number(row.id), session, session.messages.slice(1));
}

/** Everything but a turn. Throws `invalid_input` if there is no such session or it has gone on elsewhere. */
export function updateSession(database: DatabaseSync, session: ConversationSession): void {
  saveSession(database, currentId(database, session, sessionTotals(session).turnCount), session);
}

/** Throws `invalid_input` if there is no such session or it has gone on elsewhere. */
export function addTurn(
  database: DatabaseSync,
  session: ConversationSession,
  messages: readonly ConversationMessage[],
  turn: ConversationTurn,
): void {
  const number = turn.response.turnNumber;
  const id = currentId(database, session, number - 1);
  saveSession(database, id, session);
  appendMessages(database, id, session, messages);
  database
    .prepare('INSERT INTO turn (session, number, body) VALUES (?, ?, ?)')
    .run(id, number, JSON.stringify(turn));
  database
    .prepare('UPDATE session SET title = ? WHERE id = ? AND title IS NULL')
    .run(sessionTitle(turn.userQuery), id);
}

/** The key of the session's row, provided that no turn and no reset came after what `session` knows of. */
function currentId(database: DatabaseSync, session: ConversationSession, turns: number): number {
  const row = database
    .prepare(
      `SELECT id, segment, (SELECT max(number) FROM turn WHERE session = id) AS turns
       FROM session WHERE session_id = ?`,
    )
    .get(session.sessionId);
  if (row === undefined) throw unknownSession(session.sessionId);
  assertCurrent(
    session.sessionId,
    { turns, segments: session.segments.length },
    { turns: Number(row.turns), segments: Number(row.segment) },
  );
  return Number(row.id);
}

function saveSession(database: DatabaseSync, id: number, session: ConversationSession): void {
  const columns = changingColumns(session);
  const assignments = Object.keys(columns).map((name) => `${name} = ?`);
  database
    .prepare(`UPDATE session SET touched = ${NEXT_TOUCHED}, ${assignments.join(', ')} WHERE id = ?`)
    .run(...Object.values(columns), id);
  writeSegments(database, id, session);
}

function changingColumns(session: ConversationSession): Record<string, string | number> {
  const totals = sessionTotals(session);
  return {
    status: session.status,
    model: session.model,
    policy: session.policy,
    collection: session.collection,
    updated_at: new Date().toISOString(),
    segment: session.segments.length,
    turn_count: session.turnCount,
    retrieval_count: session.retrievalCount,
    total_tokens_used: session.totalTokensUsed,
    all_turns: totals.turnCount,
    all_retrievals: totals.retrievalCount,
    all_tokens: totals.totalTokensUsed,
  };
}

/** The segments that were closed since the last time, and the system message that the current one begins with. */
function writeSegments(database: DatabaseSync, id: number, session: ConversationSession): void {
  database
    .prepare(
      `INSERT INTO closed_segment (session, segment, body)
       SELECT ?1, key, value FROM json_each(?2)
       WHERE key >= (SELECT count(*) FROM closed_segment WHERE session = ?1)`,
    )
    .run(id, JSON.stringify(session.segments));
  database
    .prepare(
      `INSERT INTO message (session, segment, position, body) VALUES (?, ?, 0, ?)
       ON CONFLICT DO UPDATE SET body = excluded.body WHERE body <> excluded.body`,
    )
    .run(id, session.segments.length, JSON.stringify(session.messages[0]));
}

/** Puts messages after those that the current segment has. */
function appendMessages(
  database: DatabaseSync,
  id: number,
  session: ConversationSession,
  messages: readonly ConversationMessage[],
): void {
  const insert = database.prepare(
    `INSERT INTO message (session, segment, position, body)
     SELECT ?1, ?2, max(position) + 1, ?3 FROM message WHERE session = ?1 AND segment = ?2`,
  );
  for (const message of messages) insert.run(id, session.segments.length, JSON.stringify(message));
}

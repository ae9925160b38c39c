import type { DatabaseSync } from 'node:sqlite';
import type { RecordedTurn, SessionStore } from '../../ports/session-store.ts';
import { snapshot, transaction } from './database.ts';
import { openOrCreateSessions, openSessions, sessionFault } from './session-file.ts';
import {
  createSessionWriter,
  type Row,
  type SessionWriter,
  toRecordedTurn,
  toSession,
  toSummary,
} from './session-rows.ts';

/** Turns hold whole passages, so that they are read a few at a time. */
const TURNS_AT_ONCE = 20;

const SELECT_TURNS = `
  SELECT turn.number, turn.body, feedback.body AS feedback
  FROM turn LEFT JOIN feedback USING (session, number)
  WHERE turn.session = (SELECT id FROM session WHERE session_id = ?)`;

interface SqliteSessionOptions {
  /** How long to wait for another process to finish its transaction. */
  busyTimeoutMs?: number;
}

/** Sessions in one SQLite file, opened when it is first needed and made when something is first written. */
export function createSqliteSessionStore(
  path: string,
  { busyTimeoutMs = 30_000 }: SqliteSessionOptions = {},
): SessionStore {
  let database: DatabaseSync | null = null;
  let writer: SessionWriter | null = null;

  /** Everything the store does goes through here or `write`, so that a fault of the file reads as one. */
  async function read<T>(otherwise: T, work: (database: DatabaseSync) => T): Promise<T> {
    try {
      database ??= openSessions(path, busyTimeoutMs);
      return database === null ? otherwise : work(database);
    } catch (error) {
      throw sessionFault(error, path);
    }
  }

  async function write(work: (writer: SessionWriter) => void): Promise<void> {
    try {
      const opened = database ?? openOrCreateSessions(path, busyTimeoutMs);
      database = opened;
      transaction(opened, () => {
        writer ??= createSessionWriter(opened);
        work(writer);
      });
    } catch (error) {
      throw sessionFault(error, path);
    }
  }

  return {
    create: (session, user) => write((writer) => writer.insert(session, user)),

    load: (sessionId) =>
      read(null, (database) =>
        snapshot(database, () => {
          const row: Row | undefined = database
            .prepare('SELECT * FROM session WHERE session_id = ?')
            .get(sessionId);
          if (row === undefined) return null;
          const messages = database
            .prepare('SELECT body FROM message WHERE session = ? AND segment = ? ORDER BY position')
            .all(Number(row.id), Number(row.segment));
          const segments = database
            .prepare('SELECT body FROM closed_segment WHERE session = ? ORDER BY segment')
            .all(Number(row.id));
          return { session: toSession(row, { messages, segments }), user: toSummary(row).user };
        }),
      ),

    commitTurn: (session, messages, turn, begun) =>
      write((writer) => {
        if (begun !== undefined) writer.insert(begun.session, begun.user);
        writer.addTurn(session, messages, turn);
      }),

    update: (session) => write((writer) => writer.update(session)),

    async *turns(sessionId) {
      const after = (number: number) =>
        read([], (database): Row[] =>
          database
            .prepare(`${SELECT_TURNS} AND turn.number > ? ORDER BY turn.number LIMIT ?`)
            .all(sessionId, number, TURNS_AT_ONCE),
        );
      let rows = await after(0);
      while (rows.length > 0) {
        for (const row of rows) yield toRecordedTurn(sessionId, row);
        rows = await after(Number(rows.at(-1)?.number));
      }
    },

    lastTurn: (sessionId) =>
      read<RecordedTurn | null>(null, (database) => {
        const row = database.prepare(`${SELECT_TURNS} ORDER BY turn.number DESC LIMIT 1`).get(sessionId);
        return row === undefined ? null : toRecordedTurn(sessionId, row);
      }),

    list: ({ user, limit } = {}) =>
      read([], (database) => {
        const condition = user === undefined ? '' : 'WHERE user = ?';
        return database
          .prepare(`SELECT * FROM session ${condition} ORDER BY touched DESC LIMIT ?`)
          .all(...(user === undefined ? [] : [user]), limit ?? -1)
          .map(toSummary);
      }),

    setFeedback: (sessionId, turnNumber, feedback) =>
      read(false, (database) => {
        const { changes } = database
          .prepare(
            `INSERT INTO feedback (session, number, body)
             SELECT session, number, ?1 FROM turn
             WHERE session = (SELECT id FROM session WHERE session_id = ?2) AND (?3 IS NULL OR number = ?3)
             ORDER BY number DESC LIMIT 1
             ON CONFLICT DO UPDATE SET body = excluded.body`,
          )
          .run(JSON.stringify(feedback), sessionId, turnNumber === 'last' ? null : turnNumber);
        return changes > 0;
      }),

    delete: (sessionId) =>
      read(false, (database) => {
        const { changes } = database.prepare('DELETE FROM session WHERE session_id = ?').run(sessionId);
        // Or its text would stay in the log beside the file until that is next used up. Readers may keep it there.
        if (changes > 0) database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
        return changes > 0;
      }),

    async close() {
      database?.close();
      database = null;
      writer = null;
    },
  };
}

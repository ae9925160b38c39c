import { DatabaseSync } from 'node:sqlite';
import type { RecordedSession, RecordedTurn, SessionStore } from '../../ports/session-store.ts';
import { inSnapshot, inTransaction } from './database.ts';
import { ensureFileFormat, removeBackups, type SqliteFileOptions } from './file-format.ts';
import {
  createSessionSchema,
  openOrCreateSessionFile,
  openSessionFile,
  SESSION_FORMAT,
  toSessionFileError,
} from './session-file.ts';
import {
  createSessionWriter,
  rowToSession,
  rowToSummary,
  rowToTurn,
  type SessionRow,
} from './session-rows.ts';

/** Turns contain whole passages, so only a few are read at a time. */
const TURN_BATCH = 20;

const SELECT_TURNS = `
  SELECT number, body FROM turn
  WHERE session = (SELECT id FROM session WHERE session_id = ?)`;

/**
 * Sessions in one SQLite file, which is opened on first use and created on the first write. It is
 * upgraded on the first write. `opened` is used instead of the file.
 */
export function createSqliteSessionStore(
  path: string,
  { busyTimeoutMs = 30_000, onUpgrade }: Partial<SqliteFileOptions> = {},
  opened: DatabaseSync | null = null,
): SessionStore {
  const options = { busyTimeoutMs, onUpgrade };
  let database = opened;
  let writer: ReturnType<typeof createSessionWriter> | null = null;

  async function read<T>(ifMissing: T, work: (database: DatabaseSync) => T): Promise<T> {
    try {
      database ??= openSessionFile(path, options);
      return database === null ? ifMissing : work(database);
    } catch (error) {
      throw toSessionFileError(error, path);
    }
  }

  async function write(work: (writer: ReturnType<typeof createSessionWriter>) => void): Promise<void> {
    try {
      const opened = database ?? openOrCreateSessionFile(path, options);
      database = opened;
      ensureFileFormat(opened, path, SESSION_FORMAT, 'write', options);
      inTransaction(opened, () => {
        writer ??= createSessionWriter(opened);
        work(writer);
      });
    } catch (error) {
      throw toSessionFileError(error, path);
    }
  }

  return {
    create: (session, user) => write((writer) => writer.insert(session, user)),

    load: (sessionId) =>
      read(null, (database) =>
        inSnapshot(database, () => {
          const row: SessionRow | undefined = database
            .prepare('SELECT * FROM session WHERE session_id = ?')
            .get(sessionId);
          if (row === undefined) return null;
          const messages = database
            .prepare('SELECT body FROM message WHERE session = ? AND segment = ? ORDER BY position')
            .all(Number(row.id), Number(row.segment));
          const segments = database
            .prepare('SELECT body FROM closed_segment WHERE session = ? ORDER BY segment')
            .all(Number(row.id));
          return { session: rowToSession(row, { messages, segments }), user: rowToSummary(row).user };
        }),
      ),

    commitTurn: (session, messages, turn, newSession) =>
      write((writer) => {
        if (newSession === undefined) writer.addTurn(session, messages, turn);
        else writer.insert(session, newSession.user, [turn]);
      }),

    update: (session) => write((writer) => writer.update(session)),

    async *turns(sessionId) {
      const after = (number: number) =>
        read([], (database): SessionRow[] =>
          database
            .prepare(`${SELECT_TURNS} AND turn.number > ? ORDER BY turn.number LIMIT ?`)
            .all(sessionId, number, TURN_BATCH),
        );
      let rows = await after(0);
      while (rows.length > 0) {
        for (const row of rows) yield rowToTurn(sessionId, row);
        rows = await after(Number(rows.at(-1)?.number));
      }
    },

    lastTurn: (sessionId) =>
      read<RecordedTurn | null>(null, (database) => {
        const row = database.prepare(`${SELECT_TURNS} ORDER BY turn.number DESC LIMIT 1`).get(sessionId);
        return row === undefined ? null : rowToTurn(sessionId, row);
      }),

    list: ({ user, limit } = {}) =>
      read([], (database) => {
        const condition = user === undefined ? '' : 'WHERE user = ?';
        return database
          .prepare(`SELECT * FROM session ${condition} ORDER BY touched DESC LIMIT ?`)
          .all(...(user === undefined ? [] : [user]), limit ?? -1)
          .map(rowToSummary);
      }),

    delete: (sessionId) =>
      read(false, (database) => {
        const { changes } = database.prepare('DELETE FROM session WHERE session_id = ?').run(sessionId);
        // Otherwise the text would stay in the write-ahead log and in backups. Active readers may still keep it there.
        if (changes > 0) {
          database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
          removeBackups(path, SESSION_FORMAT);
        }
        return changes > 0;
      }),

    async close() {
      database?.close();
      database = null;
      writer = null;
    },
  };
}

/** Keeps sessions until the process ends: for tests, replays and programs that do not store sessions. */
export function createMemorySessionStore(existing: RecordedSession | null = null): SessionStore {
  const database = new DatabaseSync(':memory:');
  createSessionSchema(database);
  if (existing !== null)
    createSessionWriter(database).insert(existing.session, existing.user, existing.turns);
  return { ...createSqliteSessionStore(':memory:', {}, database), close: async () => {} };
}

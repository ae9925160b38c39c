import { writeFile } from 'node:fs/promises';
import { createSqliteSessionStore } from '../adapters/sqlite/sessions/sqlite-session-store.ts';
import { type StaleCitations, staleCitationsByTurn } from '../agent/stale-citations.ts';
import { AppError, messageOf } from '../domain/app-error.ts';
import type { ConversationSession } from '../domain/conversation-session.ts';
import { unknownSession } from '../domain/session-conflict.ts';
import { sessionTitle } from '../domain/session-title.ts';
import type { RecordedTurn, SessionStore } from '../ports/session-store.ts';
import { type App, sessionsPath } from '../wire.ts';
import { confirmed } from './confirmed.ts';
import { renderSession, renderSessionList } from './render-session.ts';
import { renderTranscript } from './render-transcript.ts';
import { resolveSessionId } from './resolve-session.ts';
import type {
  SessionDeleteFlags,
  SessionExportFlags,
  SessionFeedbackFlags,
  SessionFlags,
  SessionListFlags,
} from './sessions.ts';
import { createTerminal } from './terminal.ts';
import { type CommonFlags, withApp } from './with-app.ts';

const DEFAULT_LIMIT = 20;

export function listSessions(flags: SessionListFlags): Promise<void> {
  return withSessions(flags, async (store) => {
    const limit = wholeNumber('--limit', flags.limit) ?? DEFAULT_LIMIT;
    // One more, to know whether there are more.
    const found = await store.list({ user: flags.user, limit: limit + 1 });
    const sessions = found.slice(0, limit);
    if (flags.json) return printJson({ sessions });
    const terminal = createTerminal(process.stdout);
    if (sessions.length === 0) {
      const whose = flags.user === undefined ? '' : ` of ${terminal.text(flags.user)}`;
      return terminal.write(`There are no sessions${whose} yet. Start one with: citeloop chat\n`);
    }
    renderSessionList(terminal, sessions);
    if (found.length > limit) terminal.write(`${terminal.text('There are older ones: --limit', 'dim')}\n`);
  });
}

export function showSession(flags: SessionFlags): Promise<void> {
  return withSessions(flags, async (store, app) => {
    const { session, user, turns } = await readSession(store, flags);
    const stale = await staleByTurn(app, session, turns);
    if (flags.json) {
      const marks = Object.fromEntries(stale.flatMap((marks) => [...marks]));
      return printJson({ session, user, turns, stale: marks });
    }
    renderSession(createTerminal(process.stdout), { session, user, turns, stale });
  });
}

export function exportSession(flags: SessionExportFlags): Promise<void> {
  return withSessions(flags, async (store) => {
    const format = formatOf(flags);
    const { session, user, turns } = await readSession(store, flags);
    const [first] = turns;
    const text =
      format === 'json'
        ? `${JSON.stringify({ session, user, turns }, null, flags.json ? 0 : 2)}\n`
        : renderTranscript(first ? sessionTitle(first.turn.userQuery) : session.sessionId, turns);
    const { output } = flags;
    if (output === undefined) return void process.stdout.write(text);
    await writeFile(output, text).catch((error: unknown) => {
      throw new AppError('invalid_input', `${output} cannot be written (${messageOf(error)}).`, {
        hint: 'Give --output a file in a directory of yours.',
        cause: error,
      });
    });
    if (flags.json) printJson({ exported: session.sessionId, format, output });
    else process.stderr.write(`Wrote ${turns.length} turns to ${output}.\n`);
  });
}

export function deleteSession(flags: SessionDeleteFlags): Promise<void> {
  return withSessions(flags, async (store) => {
    const sessionId = await resolveSessionId(store, flags.id ?? '');
    if (flags.yes !== true && !(await confirmed(`Delete the session ${sessionId} for good?`))) {
      process.stderr.write('Nothing was deleted.\n');
      return;
    }
    if (!(await store.delete(sessionId))) throw unknownSession(sessionId);
    if (flags.json) printJson({ deleted: sessionId });
    else process.stdout.write(`Deleted ${sessionId}.\n`);
  });
}

export function giveFeedback(flags: SessionFeedbackFlags): Promise<void> {
  return withSessions(flags, async (store) => {
    const turn = wholeNumber('--turn', flags.turn);
    const sessionId = await resolveSessionId(store, flags.id ?? '');
    const last = await store.lastTurn(sessionId);
    const turnNumber = turn ?? last?.turn.response.turnNumber ?? 1;
    const feedback = {
      verdict: flags.verdict ?? 'good',
      why: flags.why?.trim() || null,
      at: new Date().toISOString(),
    };
    if (!(await store.setFeedback(sessionId, turnNumber, feedback))) {
      if (last === null && (await store.load(sessionId)) === null) throw unknownSession(sessionId);
      throw new AppError('invalid_input', `The session ${sessionId} has no turn ${turnNumber}.`, {
        hint: `See its turns with: citeloop sessions show ${sessionId}`,
      });
    }
    if (flags.json) printJson({ sessionId, turn: turnNumber, feedback });
    else process.stdout.write(`Turn ${turnNumber} of ${sessionId} is judged ${feedback.verdict}.\n`);
  });
}

/** Runs a command's work with the sessions of the data directory. */
function withSessions(
  flags: CommonFlags,
  work: (store: SessionStore, app: App) => Promise<void>,
): Promise<void> {
  return withApp(flags, async (app) => {
    const store = createSqliteSessionStore(sessionsPath(app.config));
    try {
      await work(store, app);
    } finally {
      await store.close();
    }
  });
}

async function readSession(store: SessionStore, flags: SessionFlags) {
  const sessionId = await resolveSessionId(store, flags.id ?? '');
  const loaded = await store.load(sessionId);
  if (loaded === null) throw unknownSession(sessionId);
  return { ...loaded, turns: await Array.fromAsync(store.turns(sessionId)) };
}

/** A collection that is gone took all its sources with it; one that cannot be read tells nothing about them. */
async function staleByTurn(
  app: App,
  { collection }: ConversationSession,
  recorded: readonly RecordedTurn[],
): Promise<StaleCitations[]> {
  const turns = recorded.map(({ turn }) => turn);
  try {
    const isThere = (await app.catalog.list()).includes(collection);
    const store = isThere ? await app.catalog.open(collection) : null;
    if (store === null) return await staleCitationsByTurn(turns, { chunks: async () => [] });
    try {
      return await staleCitationsByTurn(turns, store);
    } finally {
      await store.close();
    }
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const terminal = createTerminal(process.stderr);
    terminal.write(`${terminal.text(`The sources could not be compared: ${error.message}`)}\n`);
    return [];
  }
}

function formatOf({ format, output, json }: SessionExportFlags): 'json' | 'md' {
  if (json && output === undefined && format === 'md') {
    throw new AppError('invalid_input', '--json and --format md contradict each other.', {
      hint: 'Leave one of them out.',
    });
  }
  return format ?? (output !== undefined && /\.(md|markdown)$/i.test(output) ? 'md' : 'json');
}

function wholeNumber(flag: string, value: number | undefined): number | undefined {
  if (value === undefined || (Number.isSafeInteger(value) && value >= 1)) return value;
  throw new AppError('invalid_input', `${flag} must be a whole number, at least 1.`);
}

function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

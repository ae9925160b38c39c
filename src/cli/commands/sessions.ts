import { writeFile } from 'node:fs/promises';
import { type CitationFates, citationFates, fateRecords, noChunks } from '../../agent/stale-citations.ts';
import type { App } from '../../app/create-app.ts';
import { concernedAnswers, resolveSessionId } from '../../app/sessions.ts';
import { readFlag, wholeNumber } from '../../config/read-value.ts';
import type { ConversationSession } from '../../domain/conversation-session.ts';
import { sessionTitle, unknownSession } from '../../domain/conversation-session.ts';
import { AppError, messageOf } from '../../faults/app-error.ts';
import type { RecordedTurn, SessionStore } from '../../ports/session-store.ts';
import { toChatMessages } from '../../server/openai/chat-messages.ts';
import { counted } from '../../text/phrasing.ts';
import { indexTerms, queryTerms } from '../../text/terms.ts';
import type { CommonFlags } from '../flags/common-flags.ts';
import { paged } from '../terminal/paged.ts';
import {
  type FoundTurn,
  renderConcernedAnswers,
  renderFoundTurns,
  renderSession,
  renderSessionList,
  renderTranscript,
} from '../terminal/render-session.ts';
import { confirmed, createTerminal } from '../terminal/terminal.ts';
import { withApp } from './with-app.ts';

export interface SessionListFlags extends CommonFlags {
  user?: string | undefined;
  limit?: number | undefined;
}

export interface SessionFlags extends CommonFlags {
  id?: string | undefined;
}

type ExportFormat = 'json' | 'md' | 'openai';

export interface SessionExportFlags extends SessionFlags {
  format?: ExportFormat | undefined;
  output?: string | undefined;
}

export interface SessionDeleteFlags extends SessionFlags {
  yes?: boolean | undefined;
}

export interface SessionFeedbackFlags extends SessionFlags {
  verdict?: 'good' | 'bad' | undefined;
  turn?: number | undefined;
  why?: string | undefined;
}

const DEFAULT_LIMIT = 20;

export function listSessions(flags: SessionListFlags): Promise<void> {
  return withSessions(flags, async (store) => {
    const limit = readFlag('--limit', flags.limit, wholeNumber(1)) ?? DEFAULT_LIMIT;
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

export interface SessionSearchFlags extends SessionListFlags {
  words?: string[] | undefined;
}

/** Turns whose question and answer hold every word, the newest sessions first. */
export function searchSessions(flags: SessionSearchFlags): Promise<void> {
  return withSessions(flags, async (store) => {
    const limit = readFlag('--limit', flags.limit, wholeNumber(1)) ?? DEFAULT_LIMIT;
    const wanted = new Set(queryTerms((flags.words ?? []).join(' ')));
    const found: FoundTurn[] = [];
    for (const { sessionId, updatedAt } of await store.list({ user: flags.user })) {
      if (found.length >= limit) break;
      for await (const { turn } of store.turns(sessionId)) {
        const { answer, turnNumber } = turn.response;
        const held = new Set(indexTerms(`${turn.userQuery}\n${answer}`));
        if (wanted.size === 0 || ![...wanted].every((term) => held.has(term))) continue;
        found.push({ sessionId, updatedAt, turn: turnNumber, question: turn.userQuery, answer });
      }
    }
    if (flags.json) return printJson({ turns: found.slice(0, limit) });
    await paged(process, (terminal) => renderFoundTurns(terminal, found.slice(0, limit)));
  });
}

export function listStale(flags: SessionListFlags): Promise<void> {
  return withSessions(flags, async (store, app) => {
    const limit = readFlag('--limit', flags.limit, wholeNumber(1));
    const answers = await concernedAnswers(app, store, { limit, collection: flags.collection });
    if (flags.json) return printJson({ answers });
    await paged(process, (terminal) => renderConcernedAnswers(terminal, answers));
  });
}

export function showSession(flags: SessionFlags): Promise<void> {
  return withSessions(flags, async (store, app) => {
    const { session, user, turns } = await readSession(store, flags);
    const fates = await fatesByTurn(app, session, turns);
    if (flags.json) {
      const all = new Map(fates.flatMap((ofTurn) => [...ofTurn]));
      return printJson({ session, user, turns, ...fateRecords(all) });
    }
    await paged(process, (terminal) => renderSession(terminal, { session, user, turns, fates }));
  });
}

export function exportSession(flags: SessionExportFlags): Promise<void> {
  return withSessions(flags, async (store) => {
    const format = formatOf(flags);
    const found = await readSession(store, flags);
    const { session, turns } = found;
    const text =
      format === 'md'
        ? transcriptOf(found)
        : `${JSON.stringify(asJson(found, format), null, flags.json ? 0 : 2)}\n`;
    const { output } = flags;
    if (output === undefined) return void process.stdout.write(text);
    await writeFile(output, text).catch((error: unknown) => {
      throw new AppError('invalid_input', `${output} cannot be written (${messageOf(error)}).`, {
        hint: 'Give --output a file in a directory of yours.',
        cause: error,
      });
    });
    if (flags.json) printJson({ exported: session.sessionId, format, output });
    else process.stderr.write(`Wrote ${counted(turns.length, 'turn')} to ${output}.\n`);
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
    const turn = readFlag('--turn', flags.turn, wholeNumber(1));
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

type ReadSession = Awaited<ReturnType<typeof readSession>>;

function asJson({ session, user, turns }: ReadSession, format: Exclude<ExportFormat, 'md'>): object {
  if (format === 'json') return { session, user, turns };
  return { messages: toChatMessages(session.messages) };
}

function transcriptOf({ session, turns }: ReadSession): string {
  const [first] = turns;
  return renderTranscript(first ? sessionTitle(first.turn.userQuery) : session.sessionId, turns);
}

/** Runs a command's work with the sessions of the data directory. */
function withSessions(
  flags: CommonFlags,
  work: (store: SessionStore, app: App) => Promise<void>,
): Promise<void> {
  return withApp({ flags }, async (app) => {
    const store = await app.sessions();
    try {
      await work(store, app);
    } finally {
      await store.close();
    }
  });
}

async function loadSession(store: SessionStore, flags: SessionFlags) {
  const sessionId = await resolveSessionId(store, flags.id ?? '');
  const loaded = await store.load(sessionId);
  if (loaded === null) throw unknownSession(sessionId);
  return loaded;
}

async function readSession(store: SessionStore, flags: SessionFlags) {
  const loaded = await loadSession(store, flags);
  return { ...loaded, turns: await Array.fromAsync(store.turns(loaded.session.sessionId)) };
}

/** A collection that is gone took all its sources with it; one that cannot be read tells nothing about them. */
async function fatesByTurn(
  app: App,
  { collection }: ConversationSession,
  recorded: readonly RecordedTurn[],
): Promise<CitationFates[]> {
  const turns = recorded.map(({ turn }) => turn);
  try {
    const isThere = (await app.catalog.list()).includes(collection);
    const store = isThere ? await app.catalog.open(collection) : null;
    if (store === null) return await citationFates(turns, noChunks);
    try {
      return await citationFates(turns, store);
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

function formatOf({ format, output, json }: SessionExportFlags): ExportFormat {
  if (json && output === undefined && format === 'md') {
    throw new AppError('invalid_input', '--json and --format md contradict each other.', {
      hint: 'Leave one of them out.',
    });
  }
  return format ?? (output !== undefined && /\.(md|markdown)$/i.test(output) ? 'md' : 'json');
}

function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

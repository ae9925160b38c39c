import { writeFile } from 'node:fs/promises';
import {
  type CitationChanges,
  emptyChunkLookup,
  findCitationChanges,
  toCitationChangeRecords,
} from '../../agent/citation-changes.ts';
import type { App } from '../../app/create-app.ts';
import { findAffectedAnswers, resolveSessionId } from '../../app/sessions.ts';
import { integerSchema, parseFlag } from '../../config/parse-value.ts';
import type { ConversationSession } from '../../domain/conversation-session.ts';
import { sessionTitle, unknownSessionError } from '../../domain/conversation-session.ts';
import { AppError, messageOf } from '../../faults/app-error.ts';
import type { RecordedTurn, SessionStore } from '../../ports/session-store.ts';
import { toChatMessages } from '../../server/openai/chat-messages.ts';
import { formatCount } from '../../text/format-count.ts';
import { indexTerms, queryTerms } from '../../text/terms.ts';
import type { CommonFlags, FlagValues, Switches } from '../flags/common-flags.ts';
import { withPager } from '../terminal/pager.ts';
import {
  type FoundTurn,
  formatTranscript,
  renderFoundTurns,
  renderOutdatedAnswers,
  renderSession,
  renderSessionList,
} from '../terminal/render-session.ts';
import { confirmDeletion, createTerminal, printJson } from '../terminal/terminal.ts';
import { withApp } from './with-app.ts';

type ExportFormat = 'json' | 'md' | 'openai';

export interface SessionFlags
  extends CommonFlags,
    FlagValues<'id' | 'user' | 'output' | 'why', string>,
    FlagValues<'limit' | 'turn', number>,
    Switches<'yes'> {
  words?: string[] | undefined;
  format?: ExportFormat | undefined;
  verdict?: 'good' | 'bad' | undefined;
}

const DEFAULT_LIMIT = 20;

export function listSessions(flags: SessionFlags): Promise<void> {
  return withSessions(flags, async (store) => {
    const limit = parseFlag('--limit', flags.limit, integerSchema(1)) ?? DEFAULT_LIMIT;
    // One more than printed tells whether there are more.
    const found = await store.list({ user: flags.user, limit: limit + 1 });
    const sessions = found.slice(0, limit);
    if (flags.json) return printJson({ sessions });
    const terminal = createTerminal(process.stdout);
    if (sessions.length === 0) {
      const owner = flags.user === undefined ? '' : ` of ${terminal.text(flags.user)}`;
      return terminal.write(`No sessions${owner} yet. Start one: citeloop chat\n`);
    }
    renderSessionList(terminal, sessions);
    if (found.length > limit) terminal.write(`${terminal.text('Use --limit to list more.', 'dim')}\n`);
  });
}

/** Finds turns with all the words in the question and the answer, newest sessions first. */
export function searchSessions(flags: SessionFlags): Promise<void> {
  return withSessions(flags, async (store) => {
    const limit = parseFlag('--limit', flags.limit, integerSchema(1)) ?? DEFAULT_LIMIT;
    const wanted = [...new Set(queryTerms((flags.words ?? []).join(' ')))];
    const found: FoundTurn[] = [];
    for (const { sessionId, updatedAt } of await store.list({ user: flags.user })) {
      if (found.length >= limit) break;
      for await (const { turn } of store.turns(sessionId)) {
        const { answer, turnNumber } = turn.response;
        const terms = new Set(indexTerms(`${turn.userQuery}\n${answer}`));
        if (wanted.length === 0 || !wanted.every((term) => terms.has(term))) continue;
        found.push({ sessionId, updatedAt, turn: turnNumber, question: turn.userQuery, answer });
      }
    }
    if (flags.json) return printJson({ turns: found.slice(0, limit) });
    await withPager(process, (terminal) => renderFoundTurns(terminal, found.slice(0, limit)));
  });
}

export function listOutdatedAnswers(flags: SessionFlags): Promise<void> {
  return withSessions(flags, async (store, app) => {
    const limit = parseFlag('--limit', flags.limit, integerSchema(1));
    const answers = await findAffectedAnswers(app, store, { limit, collection: flags.collection });
    if (flags.json) return printJson({ answers });
    await withPager(process, (terminal) => renderOutdatedAnswers(terminal, answers));
  });
}

export function showSession(flags: SessionFlags): Promise<void> {
  return withSessions(flags, async (store, app) => {
    const { session, user, turns } = await readSession(store, flags);
    const changes = await findChangesByTurn(app, session, turns);
    if (flags.json) {
      const all = new Map(changes.flatMap((ofTurn) => [...ofTurn]));
      return printJson({ session, user, turns, ...toCitationChangeRecords(all) });
    }
    await withPager(process, (terminal) => renderSession(terminal, { session, user, turns, changes }));
  });
}

export function exportSession(flags: SessionFlags): Promise<void> {
  return withSessions(flags, async (store) => {
    const { output, json } = flags;
    const format = exportFormat(flags);
    const { session, user, turns } = await readSession(store, flags);
    const data =
      format === 'openai' ? { messages: toChatMessages(session.messages) } : { session, user, turns };
    const [first] = turns;
    const text =
      format === 'md'
        ? formatTranscript(first ? sessionTitle(first.turn.userQuery) : session.sessionId, turns)
        : `${JSON.stringify(data, null, json ? 0 : 2)}\n`;
    if (output === undefined) return void process.stdout.write(text);
    await writeFile(output, text).catch((error: unknown) => {
      throw new AppError('invalid_input', `Cannot write ${output} (${messageOf(error)}).`, {
        hint: 'Give --output a path that you can write to.',
        cause: error,
      });
    });
    if (json) printJson({ exported: session.sessionId, format, output });
    else process.stderr.write(`Wrote ${formatCount(turns.length, 'turn')} to ${output}.\n`);
  });
}

export function deleteSession(flags: SessionFlags): Promise<void> {
  return withSessions(flags, async (store) => {
    const sessionId = await resolveSessionId(store, flags.id ?? '');
    if (!flags.yes && !(await confirmDeletion(`Delete session ${sessionId}?`))) return;
    if (!(await store.delete(sessionId))) throw unknownSessionError(sessionId);
    if (flags.json) printJson({ deleted: sessionId });
    else process.stdout.write(`Deleted ${sessionId}.\n`);
  });
}

export function saveFeedback(flags: SessionFlags): Promise<void> {
  return withSessions(flags, async (store) => {
    const turn = parseFlag('--turn', flags.turn, integerSchema(1));
    const sessionId = await resolveSessionId(store, flags.id ?? '');
    const last = await store.lastTurn(sessionId);
    const turnNumber = turn ?? last?.turn.response.turnNumber ?? 1;
    const feedback = {
      verdict: flags.verdict ?? 'good',
      why: flags.why?.trim() || null,
      at: new Date().toISOString(),
    };
    if (!(await store.setFeedback(sessionId, turnNumber, feedback))) {
      if (last === null && (await store.load(sessionId)) === null) throw unknownSessionError(sessionId);
      throw new AppError('invalid_input', `Session ${sessionId} has no turn ${turnNumber}.`, {
        hint: `List its turns: citeloop sessions show ${sessionId}`,
      });
    }
    if (flags.json) printJson({ sessionId, turn: turnNumber, feedback });
    else process.stdout.write(`Rated turn ${turnNumber} of ${sessionId} ${feedback.verdict}.\n`);
  });
}

function withSessions(
  flags: CommonFlags,
  work: (store: SessionStore, app: App) => Promise<void>,
): Promise<void> {
  return withApp({ flags }, async (app) => {
    const store = await app.sessions();
    await work(store, app).finally(() => store.close());
  });
}

async function readSession(store: SessionStore, flags: SessionFlags) {
  const sessionId = await resolveSessionId(store, flags.id ?? '');
  const loaded = await store.load(sessionId);
  if (loaded === null) throw unknownSessionError(sessionId);
  return { ...loaded, turns: await Array.fromAsync(store.turns(sessionId)) };
}

/** All sources of a deleted collection count as removed; if it cannot be read, no changes are known. */
async function findChangesByTurn(
  app: App,
  { collection }: ConversationSession,
  recorded: readonly RecordedTurn[],
): Promise<CitationChanges[]> {
  const turns = recorded.map(({ turn }) => turn);
  try {
    const names = await app.catalog.list();
    const exists = collection.split(',').every((name) => names.includes(name));
    const store = exists ? await app.catalog.open(collection) : null;
    if (store === null) return await findCitationChanges(turns, emptyChunkLookup);
    return await findCitationChanges(turns, store).finally(() => store.close());
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const terminal = createTerminal(process.stderr);
    terminal.write(`${terminal.text(`Cannot check the sources for changes: ${error.message}`)}\n`);
    return [];
  }
}

function exportFormat({ format, output, json }: SessionFlags): ExportFormat {
  if (json && output === undefined && format === 'md') {
    throw new AppError('invalid_input', '--json and --format md cannot be used together.', {
      hint: 'Omit one of them.',
    });
  }
  return format ?? (output !== undefined && /\.(md|markdown)$/i.test(output) ? 'md' : 'json');
}

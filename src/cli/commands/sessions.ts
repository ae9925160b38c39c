import { resolveSessionId } from '../../app/sessions.ts';
import { integerSchema, parseFlag } from '../../config/parse-value.ts';
import { sessionTitle, unknownSessionError } from '../../domain/conversation-session.ts';
import { AppError } from '../../faults/app-error.ts';
import type { SessionStore } from '../../ports/session-store.ts';
import { toChatMessages } from '../../server/openai/chat-messages.ts';
import { formatCount } from '../../text/format-count.ts';
import { writeOutputFile } from '../evaluation/evaluation-files.ts';
import type { CommonFlags, FlagValues, Switches } from '../flags/common-flags.ts';
import { formatTranscript, renderSession, renderSessionList } from '../terminal/render-session.ts';
import { confirmDeletion, createTerminal, printJson } from '../terminal/terminal.ts';
import { withApp } from './with-app.ts';

type ExportFormat = 'json' | 'md' | 'openai';

export interface SessionFlags
  extends CommonFlags,
    FlagValues<'id' | 'user' | 'output', string>,
    FlagValues<'limit', number>,
    Switches<'yes'> {
  format?: ExportFormat | undefined;
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

export function showSession(flags: SessionFlags): Promise<void> {
  return withSessions(flags, async (store) => {
    const shown = await readSession(store, flags);
    if (flags.json) return printJson(shown);
    renderSession(createTerminal(process.stdout), shown);
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
    await writeOutputFile(output, text);
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

export function withSessions(
  flags: CommonFlags,
  work: (store: SessionStore) => Promise<void>,
): Promise<void> {
  return withApp({ flags }, async (app) => {
    const store = await app.sessions();
    await work(store).finally(() => store.close());
  });
}

async function readSession(store: SessionStore, flags: SessionFlags) {
  const sessionId = await resolveSessionId(store, flags.id ?? '');
  const loaded = await store.load(sessionId);
  if (loaded === null) throw unknownSessionError(sessionId);
  return { ...loaded, turns: await Array.fromAsync(store.turns(sessionId)) };
}

function exportFormat({ format, output, json }: SessionFlags): ExportFormat {
  if (json && output === undefined && format === 'md') {
    throw new AppError('invalid_input', '--json and --format md cannot be used together.', {
      hint: 'Omit one of them.',
    });
  }
  return format ?? (output !== undefined && /\.(md|markdown)$/i.test(output) ? 'md' : 'json');
}

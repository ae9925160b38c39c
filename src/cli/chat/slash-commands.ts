import type { AgentSession } from '../../agent/agent.ts';
import { policySchema } from '../../domain/agent-config.ts';
import { sessionTotals } from '../../domain/conversation-session.ts';
import { formatFilter, isEmptyFilter, parseFilter } from '../../domain/query.ts';
import { OFFLINE_MODEL } from '../../domain/setting-choices.ts';
import { AppError } from '../../faults/app-error.ts';
import { formatCount } from '../../text/format-count.ts';
import { oneLine } from '../../text/visible-text.ts';
import { unknownCollectionError } from '../commands/collections.ts';
import { alignColumns } from '../help-text.ts';
import { formatUrl } from '../terminal/format-source.ts';
import { openSource } from '../terminal/open-source.ts';
import { renderEvidence } from '../terminal/render-footer.ts';
import { renderLedger } from '../terminal/render-ledger.ts';
import { renderSessionList } from '../terminal/render-session.ts';
import { findCitedSource, renderCitedSource } from '../terminal/render-source.ts';
import type { ProcessStreams, Terminal } from '../terminal/terminal.ts';
import { renderText } from '../terminal/wrap-text.ts';
import type { ChatConversation } from './conversation.ts';

const LISTED_SESSIONS = 15;

interface SlashCommand {
  usage: string;
  describe: string;
  /** Throws `invalid_input` for a wrong argument. */
  run(
    conversation: ChatConversation,
    argument: string,
    terminal: Terminal,
    streams: ProcessStreams,
  ): Promise<void> | void;
}

const commands = {
  help: {
    usage: 'help',
    describe: 'List the commands',
    run(_conversation, _argument, terminal): void {
      const rows = Object.values(slashCommands).map(({ usage, describe }) => [`/${usage}`, describe]);
      for (const line of alignColumns(rows, terminal.width)) terminal.write(`${line}\n`);
      renderText(
        terminal,
        'Anything else is a question. End a line with \\ to continue it. Ctrl-C stops an answer.',
      );
    },
  },
  source: {
    usage: 'source [n]',
    describe: 'Show the evidence (also: Tab), or source n in full',
    async run(conversation, argument, terminal) {
      const turn = conversation.session().lastTurn();
      if (argument === '')
        return turn === null ? terminal.write('No answer yet.\n') : renderEvidence(terminal, turn);
      const source = findCitedSource(await conversation.turns(), argument);
      renderCitedSource(terminal, source, await conversation.passagesAround(source.citation.chunkId ?? ''));
    },
  },
  open: {
    usage: 'open <n>',
    describe: 'Open a cited source in $EDITOR or the browser',
    async run(conversation, argument, terminal, streams) {
      const { citation, chunk } = findCitedSource(await conversation.turns(), argument);
      const { url, location } = citation;
      await openSource({ url, uri: chunk?.uri, location }, streams);
      renderText(terminal, `Opened ${formatUrl(url)}`, { style: 'dim' });
    },
  },
  why: {
    usage: 'why',
    describe: 'Explain the last answer: searches, citations, checks',
    run({ session }, _, terminal) {
      const turn = session().lastTurn();
      if (turn === null) terminal.write('No answer yet.\n');
      else renderLedger(terminal, turn);
    },
  },
  // The chat loop runs these two.
  retry: { usage: 'retry', describe: 'Ask the last question again', run: () => {} },
  edit: { usage: 'edit', describe: 'Edit the last question and ask it', run: () => {} },
  reset: {
    usage: 'reset',
    describe: 'Start over without the earlier questions (also: clear)',
    async run(conversation, _, terminal) {
      await conversation.session().reset();
      renderText(terminal, 'The next question starts over. The session keeps its earlier answers.');
    },
  },
  policy: {
    usage: 'policy [name]',
    describe: 'Show or change when to search',
    run(conversation, argument, terminal) {
      if (argument !== '') {
        const policy = policySchema.safeParse(argument.toLowerCase());
        if (!policy.success) {
          throw new AppError('invalid_input', `Unknown policy "${oneLine(argument, 40)}".`, {
            hint: `Use one of ${policySchema.options.join(', ')}.`,
          });
        }
        conversation.policy = policy.data;
      }
      renderText(terminal, `Policy: ${conversation.policy}`);
      const others = policySchema.options.filter((policy) => policy !== conversation.policy);
      if (argument === '') renderText(terminal, `Others: ${others.join(', ')}`);
    },
  },
  model: {
    usage: 'model [name]',
    describe: 'List the models, or change the model',
    async run(conversation, argument, terminal) {
      if (argument !== '') await conversation.changeModel(argument);
      renderText(terminal, `Model: ${oneLine(conversation.model(), 60)}`);
      if (argument !== '') return;
      const others = (await conversation.models()).filter((name) => name !== conversation.model());
      if (others.length > 0) renderText(terminal, `Others: ${oneLine(others.join(', '), 2000)}`);
      if (conversation.model() === OFFLINE_MODEL && others.length === 0) renderText(terminal, FIND_A_MODEL);
    },
  },
  collection: {
    usage: 'collection [name]',
    describe: 'Show or change the collection (starts a new session)',
    async run(conversation, argument, terminal) {
      const names = await conversation.collections();
      if (argument !== '') {
        if (names.length > 0 && !names.includes(argument)) throw unknownCollectionError(argument, names);
        await conversation.changeCollection(argument);
        return renderText(terminal, `New session on ${oneLine(conversation.collection(), 60)}.`);
      }
      renderText(terminal, `Collection: ${oneLine(conversation.collection(), 60)}`);
      const others = names.filter((name) => name !== conversation.collection());
      if (others.length > 0) renderText(terminal, `Others: ${oneLine(others.join(', '), 300)}`);
    },
  },
  filter: {
    usage: 'filter [key=value …]',
    describe: 'Search only matching documents (off: all)',
    async run(conversation, argument, terminal) {
      const words = argument.split(/\s+/).filter((word) => word !== '');
      if (words.length > 0) await conversation.changeFilter(argument === 'off' ? {} : parseFilter(words));
      const { filter } = conversation;
      const shown = isEmptyFilter(filter) ? 'off' : oneLine(formatFilter(filter), 200);
      renderText(terminal, `Filter: ${shown}`);
    },
  },
  sessions: {
    usage: 'sessions',
    describe: 'List the newest sessions',
    async run({ sessions, session, user }, _, terminal) {
      const summaries = await sessions().list({ user, limit: LISTED_SESSIONS });
      if (summaries.length === 0) return terminal.write('No sessions yet.\n');
      renderSessionList(terminal, summaries);
      terminal.write(`${terminal.text(`Current session: ${session().id.slice(0, 8)}`, 'dim')}\n`);
    },
  },
  resume: {
    usage: 'resume <id>',
    describe: 'Continue another session',
    async run(conversation, argument, terminal) {
      if (argument === '') {
        throw new AppError('invalid_input', 'Usage: /resume <id>. List the ids with /sessions.');
      }
      await conversation.resume(argument);
      renderText(terminal, describeResumedSession(conversation.session()));
    },
  },
  quit: { usage: 'quit', describe: 'Leave (also: exit, Ctrl-D)', run: () => {} },
} satisfies Record<string, SlashCommand>;

export type SlashCommandName = keyof typeof commands;
export const slashCommands: Readonly<Record<SlashCommandName, SlashCommand>> = commands;

const FIND_A_MODEL =
  'For a language model, start Ollama, or set OPENAI_API_KEY and run: citeloop chat --model <name>';

/** What users should know about the offline model, and the quickest way to another one. */
export async function explainOfflineModel(conversation: Pick<ChatConversation, 'models'>): Promise<string> {
  const other = (await conversation.models()).find((name) => name !== OFFLINE_MODEL);
  const way =
    other === undefined
      ? FIND_A_MODEL
      : `To have ${oneLine(other, 60)} write answers: /model ${oneLine(other, 60)}`;
  return `The offline model quotes your documents; it does not write text. ${way}`;
}

export function describeResumedSession(session: AgentSession): string {
  const questions = formatCount(sessionTotals(session.snapshot()).turnCount, 'question');
  const last = session.lastTurn();
  const question = last === null ? '' : ` Last: ${oneLine(last.userQuery, 80)}`;
  return `Continuing session ${session.id.slice(0, 8)} (${questions}).${question}`;
}

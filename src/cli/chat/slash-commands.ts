import { writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { completeTurn } from '../../agent/complete-turn.ts';
import { OFFLINE_MODEL, policySchema } from '../../domain/agent-config.ts';
import type { AgentResponse } from '../../domain/agent-response.ts';
import { sessionTitle } from '../../domain/conversation-session.ts';
import { formatFilter, isEmptyFilter, parseFilter } from '../../domain/query.ts';
import type { PriceOf } from '../../evaluation/run/prices.ts';
import { AppError, messageOf } from '../../faults/app-error.ts';
import { nearestName } from '../../text/nearest-name.ts';
import { counted } from '../../text/phrasing.ts';
import { oneLine, visibleText } from '../../text/visible-text.ts';
import { findEvidence } from '../terminal/find-evidence.ts';
import { renderMarkdown } from '../terminal/markdown-stream.ts';
import { openPlace } from '../terminal/open-place.ts';
import { money, readableUrl, renderFooter } from '../terminal/render-answer.ts';
import { renderFork } from '../terminal/render-fork.ts';
import { renderLedger } from '../terminal/render-ledger.ts';
import { renderSources } from '../terminal/render-retrieval.ts';
import { renderSessionList, renderTranscript } from '../terminal/render-session.ts';
import { renderSource } from '../terminal/render-source.ts';
import { type Streams, type Terminal, wrapWidth } from '../terminal/terminal.ts';
import { renderText } from '../terminal/wrapping.ts';
import type { Conversation } from './conversation.ts';

const LISTED_SESSIONS = 15;

/** The commands of a chat, without their slash. */
export const COMMAND_NAMES = [
  'help',
  'sources',
  'source',
  'open',
  'why',
  'reset',
  'policy',
  'model',
  'collection',
  'filter',
  'cost',
  'save',
  'sessions',
  'resume',
  'fork',
  'good',
  'bad',
  'quit',
] as const;
type CommandName = (typeof COMMAND_NAMES)[number];

export type ChatLine =
  | { kind: 'blank' }
  | { kind: 'question'; text: string }
  | { kind: 'command'; name: CommandName; argument: string }
  | { kind: 'unknown'; name: string; nearest: string | undefined };

const aliases: Readonly<Record<string, CommandName>> = {
  clear: 'reset',
  exit: 'quit',
  '?': 'help',
  '': 'help',
};
const plainWords: Readonly<Record<string, CommandName>> = { clear: 'reset', exit: 'quit', quit: 'quit' };

/** What a person means by a message: a command is one line that begins with a slash and a word. */
export function parseLine(message: string): ChatLine {
  const text = message.trim();
  if (text === '') return { kind: 'blank' };
  const plain = Object.hasOwn(plainWords, text.toLowerCase()) ? plainWords[text.toLowerCase()] : undefined;
  if (plain !== undefined) return { kind: 'command', name: plain, argument: '' };
  const number = /^open \[?(\d+)\]?$/i.exec(text)?.[1];
  if (number !== undefined) return { kind: 'command', name: 'open', argument: number };
  const match = /^\/([a-z]*|\?)(?:[ \t]+(.*))?$/i.exec(text);
  if (match === null) return { kind: 'question', text };
  const word = (match[1] ?? '').toLowerCase();
  const name =
    COMMAND_NAMES.find((known) => known === word) ??
    (Object.hasOwn(aliases, word) ? aliases[word] : undefined);
  if (name === undefined) return { kind: 'unknown', name: word, nearest: nearestName(word, COMMAND_NAMES) };
  return { kind: 'command', name, argument: (match[2] ?? '').trim() };
}

interface Command {
  /** How it is typed, without the slash. */
  usage: string;
  describe: string;
  /** Prints to the terminal. Throws an AppError for what the person has to correct. */
  run(
    conversation: Conversation,
    argument: string,
    terminal: Terminal,
    streams: Streams,
  ): Promise<void> | void;
}

export const commands: Readonly<Record<CommandName, Command>> = {
  help: { usage: 'help', describe: 'This list', run: (_, __, terminal) => help(terminal) },
  sources: {
    usage: 'sources',
    describe: 'What the last search found, with excerpts',
    run(conversation, _, terminal) {
      const turn = conversation.lastSearched();
      if (turn === null) terminal.write('Nothing has been searched yet.\n');
      else renderSources(terminal, turn);
    },
  },
  source: {
    usage: 'source <n>',
    describe: 'A source in its section, with what the answer rests on',
    async run(conversation, argument, terminal) {
      const evidence = findEvidence(await conversation.turns(), numberIn(argument, 'source'));
      const around = await conversation.passagesAround(evidence.citation.chunkId ?? '');
      renderSource(terminal, evidence, around);
    },
  },
  open: {
    usage: 'open <n>',
    describe: 'Open a source in $EDITOR, or where it is on the web',
    async run(conversation, argument, terminal, streams) {
      const { citation, chunk } = findEvidence(await conversation.turns(), numberIn(argument, 'open'));
      const { url, location } = citation;
      await openPlace({ url, uri: chunk?.uri, location }, streams);
      terminal.write(`${terminal.text(`Opened ${readableUrl(url)}`, 'dim')}\n`);
    },
  },
  why: {
    usage: 'why',
    describe: 'What was searched, found, cited, and why not',
    run({ session }, _, terminal) {
      const turn = session().lastTurn();
      if (turn === null) terminal.write('There is no answer yet to explain.\n');
      else renderLedger(terminal, turn);
    },
  },
  reset: {
    usage: 'reset',
    describe: 'Forget the conversation (also: clear)',
    async run(conversation, _, terminal) {
      await conversation.reset();
      terminal.write('The conversation is forgotten; the session goes on.\n');
    },
  },
  policy: {
    usage: 'policy [name]',
    describe: 'Who searches: tool, always, first or never',
    run(conversation, argument, terminal) {
      if (argument !== '') {
        const policy = policySchema.safeParse(argument.toLowerCase());
        if (!policy.success) {
          throw new AppError('invalid_input', `"${oneLine(argument, 40)}" is not a policy.`, {
            hint: `It is one of ${policySchema.options.join(', ')}.`,
          });
        }
        conversation.policy = policy.data;
      }
      terminal.write(`The policy is ${conversation.policy}.\n`);
    },
  },
  model: {
    usage: 'model [name]',
    describe: 'Show or change the model',
    async run(conversation, argument, terminal) {
      if (argument !== '') await conversation.changeModel(argument);
      const model = conversation.model();
      renderText(terminal, `The model is ${oneLine(model, 60)}. ${aboutModel(model)}`);
    },
  },
  collection: {
    usage: 'collection [name]',
    describe: 'Show or change the collection; changing begins anew',
    async run(conversation, argument, terminal) {
      if (argument !== '') {
        await conversation.changeCollection(argument);
        return renderText(terminal, `A new conversation on ${oneLine(conversation.collection(), 60)}.`);
      }
      renderText(terminal, `The collection is ${oneLine(conversation.collection(), 60)}.`);
      const others = conversation.collections.filter((name) => name !== conversation.collection());
      if (others.length > 0) renderText(terminal, `There is also: ${oneLine(others.join(', '), 300)}.`);
    },
  },
  filter: {
    usage: 'filter [key=value …]',
    describe: 'Search only some documents; off searches all',
    async run(conversation, argument, terminal) {
      const words = argument.split(/\s+/).filter((word) => word !== '');
      if (words.length > 0) await conversation.changeFilter(argument === 'off' ? {} : parseFilter(words));
      const { filter } = conversation;
      const shown = isEmptyFilter(filter)
        ? 'All documents are searched.'
        : `Only documents with ${oneLine(formatFilter(filter), 200)} are searched; /filter off searches all.`;
      renderText(terminal, shown);
    },
  },
  cost: {
    usage: 'cost',
    describe: 'Tokens, and money where prices are set, so far',
    async run(conversation, _, terminal) {
      const turns = await conversation.turns();
      const last = turns.at(-1);
      if (last === undefined) return terminal.write('Nothing has been asked yet.\n');
      const session = turns.map(({ response }) => response);
      renderText(terminal, `The last turn: ${costOf([last.response], conversation.priceOf)}.`);
      renderText(
        terminal,
        `This session, ${counted(turns.length, 'turn')}: ${costOf(session, conversation.priceOf)}.`,
      );
      if (
        last.response.model !== OFFLINE_MODEL &&
        conversation.priceOf(last.response.model, last.response.tokensUsed) === null
      ) {
        const example = `{"${last.response.model}": {"input": 1.25, "output": 10}}`;
        renderText(
          terminal,
          `Its price is not known; set it for a million tokens with: citeloop config set prices '${example}'`,
        );
      }
    },
  },
  save: {
    usage: 'save [file]',
    describe: 'Write the conversation to a .md or .json file',
    async run(conversation, argument, terminal) {
      const path = await saveTranscript(conversation, argument);
      terminal.write(`Saved to ${terminal.text(path)}\n`);
    },
  },
  sessions: {
    usage: 'sessions',
    describe: 'The newest sessions',
    async run({ sessions, session, user }, _, terminal) {
      const summaries = await sessions().list({ user, limit: LISTED_SESSIONS });
      if (summaries.length === 0) return terminal.write('There are no sessions yet.\n');
      renderSessionList(terminal, summaries);
      terminal.write(`${terminal.text(`This one is ${session().id.slice(0, 8)}.`, 'dim')}\n`);
    },
  },
  resume: {
    usage: 'resume <id>',
    describe: 'Go on with another session',
    async run(conversation, argument, terminal) {
      if (argument === '') {
        throw new AppError('invalid_input', 'Say which session: /resume <id>.', {
          hint: 'See them with /sessions.',
        });
      }
      await conversation.resume(argument);
      const { sessionId, turnCount } = conversation.session().snapshot();
      const last = conversation.session().lastTurn();
      terminal.write(
        `Session ${sessionId.slice(0, 8)}, ${counted(turnCount, 'turn')}.` +
          `${last === null ? '' : ` Last question: ${oneLine(last.userQuery, 80)}`}\n`,
      );
    },
  },
  fork: {
    usage: 'fork <turn> [policy|model]',
    describe: 'Ask a turn anew in a session of its own; see where they part',
    async run(conversation, argument, terminal) {
      const [, number, wanted = ''] = /^(\d+)(?:\s+(\S+))?$/.exec(argument) ?? [];
      if (number === undefined) {
        throw new AppError(
          'invalid_input',
          'Say at which turn: /fork <turn>, and if you like a policy or a model.',
          {
            hint: 'Turns count from 1.',
          },
        );
      }
      const origin = conversation.session().id;
      const [before] = await conversation.fork(Number(number));
      const policy = policySchema.safeParse(wanted.toLowerCase());
      if (policy.success) conversation.policy = policy.data;
      else if (wanted !== '') {
        await conversation.changeModel(wanted).catch(async (error) => {
          await conversation.resume(origin);
          throw error;
        });
      }
      if (before === undefined) return;
      renderText(
        terminal,
        `Forked to ${conversation.session().id.slice(0, 8)}; asked anew: ${oneLine(before.userQuery, 200)}`,
      );
      terminal.write('\n');
      const { policy: now, filter } = conversation;
      const events = conversation.session().ask(before.userQuery, { policy: now, filter });
      const after = await completeTurn(events);
      conversation.completed(after);
      renderMarkdown({ terminal, width: wrapWidth(terminal) }, visibleText(after.response.answer));
      terminal.write('\n');
      renderFooter(terminal, after, { priceOf: conversation.priceOf });
      terminal.write('\n');
      renderFork(terminal, before, after);
    },
  },
  good: {
    usage: 'good',
    describe: 'The last answer was good',
    run: (conversation, why, terminal) => judge(conversation, { verdict: 'good', why }, terminal),
  },
  bad: {
    usage: 'bad [why]',
    describe: 'The last answer was not, and why',
    run: (conversation, why, terminal) => judge(conversation, { verdict: 'bad', why }, terminal),
  },
  quit: { usage: 'quit', describe: 'Leave (also: exit, Ctrl-D)', run: () => {} },
};

function numberIn(argument: string, command: string): string {
  if (argument !== '') return argument;
  throw new AppError('invalid_input', `Say which source: /${command} <n>.`, {
    hint: 'Its number stands in the answer, as [2].',
  });
}

function costOf(responses: readonly AgentResponse[], priceOf: PriceOf): string {
  const sum = (part: 'prompt' | 'completion') =>
    responses.reduce((total, { tokensUsed }) => total + tokensUsed[part], 0);
  const prices = responses.map(({ model, tokensUsed }) => priceOf(model, tokensUsed));
  const known = prices.filter((price) => price !== null);
  const price = known.length === 0 ? '' : `, costs ${money(known.reduce((total, each) => total + each, 0))}`;
  const about = responses.some(({ tokensUsed }) => tokensUsed.estimated) ? 'about ' : '';
  return `${about}${sum('prompt')} tokens in, ${sum('completion')} out${price}`;
}

/** For Tab: the commands that begin so, and the values that some of them know. */
export function completeCommand(line: string, collections: readonly string[] = []): [string[], string] {
  const values: Readonly<Record<string, readonly string[]>> = {
    policy: policySchema.options,
    collection: collections,
    filter: ['module=', 'chapter=', 'title=', 'url=', 'off'],
    resume: ['last'],
  };
  const [, command = ''] = /^\/([a-z]+) /.exec(line) ?? [];
  const candidates =
    command === ''
      ? COMMAND_NAMES.map((name) => `/${name}`)
      : (Object.hasOwn(values, command) ? (values[command] ?? []) : []).map(
          (value) => `/${command} ${value}`,
        );
  return [line.startsWith('/') ? candidates.filter((candidate) => candidate.startsWith(line)) : [], line];
}

/** What to know about a model besides its name; only the offline one needs a word. */
export function aboutModel(model: string): string {
  if (model !== OFFLINE_MODEL) return '';
  return 'The offline model is extractive: it quotes your documents word for word. For a generative model set OPENAI_API_KEY, or OPENAI_BASE_URL for a server of yours, and type /model <name>.';
}

function help(terminal: Terminal): void {
  const usages = COMMAND_NAMES.map((name) => `/${commands[name].usage}`);
  const width = Math.max(...usages.map((usage) => usage.length));
  COMMAND_NAMES.forEach((name, index) => {
    terminal.write(
      `${(usages[index] ?? '').padEnd(width)}  ${terminal.text(commands[name].describe, 'dim')}\n`,
    );
  });
  const rest =
    'Anything else is a question. What is pasted is one message, a line that ends in \\ goes on, and ' +
    '""" opens and closes a block. Ctrl-C stops an answer.';
  renderText(terminal, rest);
}

async function judge(
  { session, sessions }: Conversation,
  { verdict, why }: { verdict: 'good' | 'bad'; why: string },
  terminal: Terminal,
): Promise<void> {
  const feedback = { verdict, why: why === '' ? null : why, at: new Date().toISOString() };
  const judged =
    session().lastTurn() !== null && (await sessions().setFeedback(session().id, 'last', feedback));
  terminal.write(judged ? `Noted: ${verdict}.\n` : 'There is no answer yet to judge.\n');
}

/** Writes the conversation to a file and returns its path. A file of somebody else's is never overwritten. */
async function saveTranscript(conversation: Conversation, file: string): Promise<string> {
  const { session, sessions, savedFiles } = conversation;
  const id = session().id;
  const name = file === '' ? `citeloop-${id.slice(0, 8)}.md` : file;
  const path = name.startsWith('~/') ? join(homedir(), name.slice(2)) : resolve(name);
  const turns = await Array.fromAsync(sessions().turns(id));
  const [first] = turns;
  if (first === undefined) throw new AppError('invalid_input', 'There is nothing to save yet.');
  const text = path.endsWith('.json')
    ? `${JSON.stringify({ session: session().snapshot(), turns }, null, 2)}\n`
    : renderTranscript(sessionTitle(first.turn.userQuery), turns);
  try {
    await writeFile(path, text, { flag: savedFiles.has(path) ? 'w' : 'wx' });
  } catch (error) {
    const exists = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    throw new AppError(
      'invalid_input',
      exists ? `${path} exists already.` : `${path} cannot be written: ${messageOf(error)}.`,
      { hint: 'Give another file: /save <file>', cause: error },
    );
  }
  savedFiles.add(path);
  return path;
}

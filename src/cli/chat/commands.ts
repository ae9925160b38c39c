import { OFFLINE_MODEL, policySchema } from '../../domain/agent-config.ts';
import { AppError } from '../../domain/app-error.ts';
import { oneLine } from '../../domain/visible-text.ts';
import { renderText } from '../render-answer.ts';
import { renderLedger } from '../render-ledger.ts';
import { renderSessionList } from '../render-session.ts';
import { renderSources } from '../render-sources.ts';
import type { Terminal } from '../terminal.ts';
import type { Conversation } from './conversation.ts';
import { COMMAND_NAMES, type CommandName } from './parse-line.ts';
import { saveTranscript } from './save-transcript.ts';

const LISTED_SESSIONS = 15;

interface Command {
  /** How it is typed, without the slash. */
  usage: string;
  describe: string;
  /** Prints to the terminal. Throws an AppError for what the person has to correct. */
  run(conversation: Conversation, argument: string, terminal: Terminal): Promise<void> | void;
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
        `Session ${sessionId.slice(0, 8)}, ${turnCount} ${turnCount === 1 ? 'turn' : 'turns'}.` +
          `${last === null ? '' : ` Last question: ${oneLine(last.userQuery, 80)}`}\n`,
      );
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

/** For Tab: the commands that begin so, and the policies. */
export function completeCommand(line: string): [string[], string] {
  const candidates = line.startsWith('/policy ')
    ? policySchema.options.map((policy) => `/policy ${policy}`)
    : COMMAND_NAMES.map((name) => `/${name}`);
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

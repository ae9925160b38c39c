import { completeTurn } from '../../agent/complete-turn.ts';
import { policySchema, runsHere } from '../../domain/agent-config.ts';
import type { AgentResponse } from '../../domain/agent-response.ts';
import type { PriceOf } from '../../evaluation/run/prices.ts';
import { AppError } from '../../faults/app-error.ts';
import { counted } from '../../text/phrasing.ts';
import { oneLine, visibleText } from '../../text/visible-text.ts';
import { renderMarkdown } from '../terminal/markdown-stream.ts';
import { money, renderFooter } from '../terminal/render-answer.ts';
import { renderFork } from '../terminal/render-fork.ts';
import { renderSessionList } from '../terminal/render-session.ts';
import { type Terminal, wrapWidth } from '../terminal/terminal.ts';
import { renderText } from '../terminal/wrapping.ts';
import type { Conversation } from './conversation.ts';
import { saveTranscript } from './save-transcript.ts';
import type { SlashCommand } from './slash-command.ts';

const LISTED_SESSIONS = 15;

/** The conversation itself: kept, left for another, forked, judged, and what it took. */
export const conversationCommands = {
  reset: {
    usage: 'reset',
    describe: 'Forget the conversation (also: clear)',
    async run(conversation, _, terminal) {
      await conversation.reset();
      terminal.write('The conversation is forgotten; the session goes on.\n');
    },
  },
  save: {
    usage: 'save [file]',
    describe: 'Write the conversation to a .md or .json file',
    async run(conversation, argument, terminal) {
      const path = await saveTranscript(conversation, argument);
      renderText(terminal, `Saved to ${path}`);
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
      renderText(
        terminal,
        `Session ${sessionId.slice(0, 8)}, ${counted(turnCount, 'turn')}.` +
          `${last === null ? '' : ` Last question: ${oneLine(last.userQuery, 80)}`}`,
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
      renderFooter(terminal, after, { inChat: true, priceOf: conversation.priceOf });
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
        !runsHere(last.response.model) &&
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
} satisfies Record<string, SlashCommand>;

function costOf(responses: readonly AgentResponse[], priceOf: PriceOf): string {
  const sum = (part: 'prompt' | 'completion') =>
    responses.reduce((total, { tokensUsed }) => total + tokensUsed[part], 0);
  const prices = responses.map(({ model, tokensUsed }) => priceOf(model, tokensUsed));
  const known = prices.filter((price) => price !== null);
  const price = known.length === 0 ? '' : `, costs ${money(known.reduce((total, each) => total + each, 0))}`;
  const about = responses.some(({ tokensUsed }) => tokensUsed.estimated) ? 'about ' : '';
  return `${about}${sum('prompt')} tokens in, ${sum('completion')} out${price}`;
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

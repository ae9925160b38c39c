import { setImmediate as signalsHeard } from 'node:timers/promises';
import { completeTurn } from '../../agent/complete-turn.ts';
import type { AgentConfig } from '../../domain/agent-config.ts';
import { AppError } from '../../faults/app-error.ts';
import { fromErrorResponse } from '../../faults/error-response.ts';
import { counted } from '../../text/phrasing.ts';
import { oneLine } from '../../text/visible-text.ts';
import { commandLineError, commandLineResponse } from '../advice.ts';
import { paged } from '../terminal/paged.ts';
import { renderDetails } from '../terminal/render-details.ts';
import { type AnswerFormat, renderTurn } from '../terminal/render-turn.ts';
import type { Streams } from '../terminal/terminal.ts';
import { createTerminal } from '../terminal/terminal.ts';
import { renderText } from '../terminal/wrapping.ts';
import { type ChatLine, completeCommand, parseLine } from './chat-line.ts';
import { aboutModel, modelName } from './choice-commands.ts';
import type { Conversation } from './conversation.ts';
import { type QuestionSource, readQuestions } from './read-questions.ts';
import { commands } from './slash-commands.ts';

interface Chat {
  conversation: Conversation;
  streams: Streams;
  /** How many earlier answers rest on what has changed since. */
  staleAnswers?: () => Promise<number>;
  stream: boolean;
  /** One AgentResponse a line on stdout, and all that is for people on stderr. */
  json: boolean;
  format?: AnswerFormat | undefined;
  /** The settings of the run, where the details of each turn are printed to stderr, too. */
  details?: AgentConfig | null;
  signal: AbortSignal;
  history: Pick<QuestionSource, 'history' | 'onMessage'>;
  /** Prints what went wrong in a turn or a command, after which the chat goes on. */
  report(error: unknown): void;
}

/** Answers messages until the input ends or a command leaves. Throws `interrupted` when the signal is raised. */
export async function runChatLoop(chat: Chat): Promise<void> {
  const { conversation, streams, signal, json } = chat;
  const screen = json ? streams.stderr : streams.stdout;
  const typed = streams.stdin.isTTY === true;
  let stopTurn: (() => void) | undefined;
  let blocks = 0;

  if (typed) await greet();
  const questions = readQuestions({
    ...chat.history,
    streams,
    signal,
    complete: async (line) =>
      completeCommand(line, line.startsWith('/collection ') ? await conversation.collections() : []),
    onInterrupt: () => stopTurn?.(),
  });
  for await (const message of questions) {
    // Turns that wait for nothing, one after the other, would let no Ctrl-C through.
    await signalsHeard();
    if (signal.aborted) break;
    const line = parseLine(message);
    if (line.kind === 'command' && line.name === 'quit') break;
    // A blank line between blocks, and on a terminal also below the prompt.
    if (!json && (typed || blocks > 0)) screen.write('\n');
    blocks += 1;
    try {
      const left = await answer(line);
      if (left) break;
    } catch (error) {
      if (signal.aborted) break;
      fail(error);
    }
    if (typed) screen.write('\n');
  }
  signal.throwIfAborted();

  /** True when the person gave up waiting for a turn to stop, and wants to leave. */
  async function answer(line: ChatLine): Promise<boolean> {
    if (line.kind === 'command') {
      const { run } = commands[line.name];
      const shown = { stdin: streams.stdin, stdout: screen, stderr: streams.stderr };
      await paged(shown, (terminal) => run(conversation, line.argument, terminal, streams));
    }
    if (line.kind === 'unknown') throw unknownCommand(line.name, line.nearest);
    if (line.kind !== 'question') return false;
    const turn = new AbortController();
    const gaveUp = Promise.withResolvers<true>();
    stopTurn = () => {
      if (turn.signal.aborted) gaveUp.resolve(true);
      turn.abort(new AppError('interrupted', 'Stopped.', { hint: 'The question was not kept.' }));
    };
    const answered = ask(line.text, AbortSignal.any([signal, turn.signal])).then(() => false);
    try {
      return await Promise.race([answered, gaveUp.promise]);
    } finally {
      stopTurn = undefined;
    }
  }

  async function ask(question: string, turnSignal: AbortSignal): Promise<void> {
    const { policy, session, filter, priceOf } = conversation;
    const events = session().ask(question, { policy, filter, signal: turnSignal });
    const view = {
      stream: chat.stream,
      compact: !typed,
      inChat: true,
      format: chat.format,
      priceOf,
    };
    const turn = await (json ? completeTurn(events) : renderTurn(events, streams, view));
    if (json) streams.stdout.write(`${JSON.stringify(commandLineResponse(turn.response))}\n`);
    if (chat.details) renderDetails(streams.stderr, turn, chat.details);
    conversation.completed(turn);
    if (turn.response.error !== null && !json) chat.report(fromErrorResponse(turn.response.error));
  }

  function fail(error: unknown): void {
    if (error instanceof AppError && error.kind === 'interrupted') {
      const terminal = createTerminal(streams.stderr);
      terminal.write(`${terminal.text('Stopped. The question was not kept.', 'dim')}\n`);
    } else if (json && error instanceof AppError) {
      streams.stdout.write(`${JSON.stringify({ error: commandLineError(error) })}\n`);
    } else {
      chat.report(error);
    }
  }

  async function greet(): Promise<void> {
    const terminal = createTerminal(screen);
    const model = conversation.model();
    renderText(
      terminal,
      `citeloop on ${oneLine(conversation.collection(), 60)}, model ${modelName(model)}. /help lists commands.`,
    );
    renderText(terminal, aboutModel(model));
    const stale = (await chat.staleAnswers?.()) ?? 0;
    if (stale > 0) {
      const answers = counted(stale, 'earlier answer rests', 'earlier answers rest');
      renderText(terminal, `${answers} on what has changed since: citeloop sessions stale`);
    }
    terminal.write('\n');
  }
}

function unknownCommand(name: string, nearest: string | undefined): AppError {
  return new AppError('invalid_input', `There is no command /${oneLine(name, 30)}.`, {
    hint: nearest === undefined ? 'See them all with /help.' : `Did you mean /${nearest}?`,
  });
}

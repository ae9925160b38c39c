import { setImmediate as nextLoopTurn } from 'node:timers/promises';
import { waitForTurn } from '../../agent/wait-for-turn.ts';
import { sessionTotals } from '../../domain/conversation-session.ts';
import { OFFLINE_MODEL } from '../../domain/setting-choices.ts';
import { AppError } from '../../faults/app-error.ts';
import { fromErrorResponse, toErrorResponse } from '../../faults/error-response.ts';
import { EXIT_SUCCESS, exitCodeOf } from '../../faults/exit-code.ts';
import type { Redactor } from '../../faults/redactor.ts';
import { oneLine } from '../../text/visible-text.ts';
import { renderLedger } from '../terminal/render-ledger.ts';
import { type AnswerFormat, renderTurn } from '../terminal/render-turn.ts';
import { createTerminal, type ProcessStreams } from '../terminal/terminal.ts';
import { renderText } from '../terminal/wrap-text.ts';
import { type ChatLine, completeChatLine, parseChatLine } from './chat-line.ts';
import type { ChatConversation } from './conversation.ts';
import { type QuestionReaderOptions, readQuestions } from './read-questions.ts';
import { describeResumedSession, explainOfflineModel, slashCommands } from './slash-commands.ts';

interface ChatOptions {
  conversation: ChatConversation;
  streams: ProcessStreams;
  /** Prints answers while they are generated. */
  stream: boolean;
  /** Prints one AgentResponse per line on stdout, and everything else on stderr. */
  json: boolean;
  format?: AnswerFormat | undefined;
  /** Given with --verbose: explains each turn, without secrets. */
  explain?: Redactor | undefined;
  signal: AbortSignal;
  history: Pick<QuestionReaderOptions, 'history' | 'onMessage'>;
  /** Prints the error of a turn or a command; the chat continues. */
  report(error: unknown): void;
}

/**
 * Answers messages until the input ends or /quit. Returns the exit code: that of the first error of piped input, as a
 * person at the prompt has seen the errors. Throws `interrupted` when the signal is aborted.
 */
export async function runChatLoop(chat: ChatOptions): Promise<number> {
  const { conversation, streams, signal, json } = chat;
  const screen = json ? streams.stderr : streams.stdout;
  const isTyped = streams.stdin.isTTY === true;
  let stopTurn: (() => void) | undefined;
  let blocks = 0;
  let exitCode = EXIT_SUCCESS;
  let lastQuestion: string | undefined;
  /** Put into the next prompt, to be edited. */
  let draft = '';

  if (isTyped) await greet();
  const questions = readQuestions({
    ...chat.history,
    streams,
    signal,
    async complete(line) {
      if (line.startsWith('/collection ')) return completeChatLine(line, await conversation.collections());
      return completeChatLine(line, line.startsWith('/model ') ? await conversation.models() : []);
    },
    onEmptyTab: () => (conversation.session().lastTurn()?.response.citations.length ? '/source' : undefined),
    takeDraft() {
      const text = draft;
      draft = '';
      return text;
    },
    onInterrupt: () => stopTurn?.(),
  });
  for await (const message of questions) {
    // Lets signals arrive between turns that never wait.
    await nextLoopTurn();
    if (signal.aborted) break;
    const line = parseChatLine(message);
    if (line.kind === 'command' && line.name === 'quit') break;
    // A blank line between blocks, and on a terminal also below the prompt.
    if (!json && (isTyped || blocks > 0)) screen.write('\n');
    blocks += 1;
    try {
      const isAbandoned = await handleLine(line);
      if (isAbandoned) break;
    } catch (error) {
      if (signal.aborted) break;
      reportError(error);
    }
    if (isTyped) screen.write('\n');
  }
  signal.throwIfAborted();
  return exitCode;

  /** Returns true if the user pressed Ctrl-C again while a turn was stopping. */
  async function handleLine(line: ChatLine): Promise<boolean> {
    if (line.kind === 'command') {
      if (line.name === 'retry') return handleLine({ kind: 'question', text: requireLastQuestion() });
      if (line.name === 'edit') draft = requireLastQuestion();
      await slashCommands[line.name].run(conversation, line.argument, createTerminal(screen), streams);
    }
    if (line.kind === 'unknown') {
      const { name, nearest } = line;
      throw new AppError('invalid_input', `Unknown command /${oneLine(name, 30)}.`, {
        hint: nearest === undefined ? 'Type /help to list the commands.' : `Did you mean /${nearest}?`,
      });
    }
    if (line.kind !== 'question') return false;
    lastQuestion = line.text;
    const turn = new AbortController();
    const abandoned = Promise.withResolvers<true>();
    stopTurn = () => {
      if (turn.signal.aborted) abandoned.resolve(true);
      turn.abort(new AppError('interrupted', 'Stopped.', { hint: 'The question was not saved.' }));
    };
    const answered = ask(line.text, AbortSignal.any([signal, turn.signal])).then(() => false);
    try {
      return await Promise.race([answered, abandoned.promise]);
    } finally {
      stopTurn = undefined;
    }
  }

  async function ask(question: string, turnSignal: AbortSignal): Promise<void> {
    const { policy, session, filter, priceOf } = conversation;
    const { format } = chat;
    // The offline model answers at once.
    const stream = chat.stream && conversation.model() !== OFFLINE_MODEL;
    const verbose = chat.explain !== undefined;
    const events = session().ask(question, { policy, filter, signal: turnSignal });
    const turn = await (json
      ? waitForTurn(events)
      : renderTurn(events, streams, {
          stream,
          compact: !isTyped,
          inChat: isTyped,
          verbose,
          format,
          priceOf,
        }));
    if (json) streams.stdout.write(`${JSON.stringify(turn.response)}\n`);
    if (chat.explain) renderLedger(createTerminal(streams.stderr), chat.explain.value(turn));
    if (turn.response.error === null) return;
    const error = fromErrorResponse(turn.response.error);
    noteError(error);
    if (!json) chat.report(error);
  }

  function requireLastQuestion(): string {
    const question = lastQuestion ?? conversation.session().lastTurn()?.userQuery;
    if (question !== undefined) return question;
    throw new AppError('invalid_input', 'No question yet.', { hint: 'Ask one first.' });
  }

  function noteError(error: unknown): void {
    if (!isTyped) exitCode ||= exitCodeOf(error);
  }

  function reportError(error: unknown): void {
    noteError(error);
    if (error instanceof AppError && error.kind === 'interrupted') {
      renderText(createTerminal(streams.stderr), 'Stopped. The question was not saved.', { style: 'dim' });
    } else if (json && error instanceof AppError) {
      streams.stdout.write(`${JSON.stringify({ error: toErrorResponse(error) })}\n`);
    } else {
      chat.report(error);
    }
  }

  async function greet(): Promise<void> {
    const terminal = createTerminal(screen);
    const model = conversation.model();
    const collection = oneLine(conversation.collection(), 60);
    renderText(terminal, `citeloop on ${collection}, model ${oneLine(model, 60)}. Type /help for commands.`);
    const session = conversation.session();
    if (sessionTotals(session.snapshot()).turnCount > 0)
      renderText(terminal, describeResumedSession(session));
    // Users of earlier chats have read it.
    if (model === OFFLINE_MODEL && chat.history.history.length === 0)
      renderText(terminal, await explainOfflineModel(conversation));
    terminal.write('\n');
  }
}

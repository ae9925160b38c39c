import { fstatSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import * as z from 'zod';
import type { AgentSession } from '../../agent/agent.ts';
import { waitForTurn } from '../../agent/wait-for-turn.ts';
import type { App } from '../../app/create-app.ts';
import type { OpenedAgent } from '../../app/open-agent.ts';
import { createConfiguredRedactor } from '../../app/run-settings.ts';
import { resolveSessionId } from '../../app/sessions.ts';
import type { RetrievalPolicy } from '../../domain/agent-config.ts';
import type { AgentResponse } from '../../domain/agent-response.ts';
import type { ConversationTurn } from '../../domain/conversation-turn.ts';
import type { Filter } from '../../domain/query.ts';
import type { RunEvent } from '../../domain/run-event.ts';
import { OFFLINE_MODEL, SEARCH_MODES } from '../../domain/setting-choices.ts';
import { type CalculatePrice, createPriceCalculator } from '../../evaluation/run/model-prices.ts';
import { AppError } from '../../faults/app-error.ts';
import { fromErrorResponse } from '../../faults/error-response.ts';
import { EXIT_SUCCESS, exitCodeOf } from '../../faults/exit-code.ts';
import type { Redactor } from '../../faults/redactor.ts';
import type { CommandRun } from '../../tape/run-observer.ts';
import type { AgentFlags } from '../flags/agent-flags.ts';
import { renderLedger } from '../terminal/render-ledger.ts';
import { type AnswerFormat, renderTurn } from '../terminal/render-turn.ts';
import { createTerminal, type ProcessStreams } from '../terminal/terminal.ts';
import { toFilter, toOutputOptions, toSettings } from './read-flags.ts';
import { withApp } from './with-app.ts';

export interface AskFlags extends AgentFlags {
  question?: string[] | undefined;
  requireGrounded?: boolean | undefined;
}

type Stdin = Readable & { isTTY?: boolean; fd?: number };

export async function runAsk(flags: AskFlags): Promise<number> {
  const question = await readQuestion(flags, process.stdin);
  const attached = await readAttachment(flags, process.stdin);
  const filter = toFilter(flags);
  const { json, format } = toOutputOptions(flags);
  return withApp({ flags: toSettings(flags), taped: { command: 'ask', question, flags } }, (app, run) => {
    const { policy, stream, verbose } = app.config.agent;
    // A continued session keeps its policy unless --policy is given.
    const questions = [
      { question, policy: flags.policy === undefined ? undefined : policy, filter, attached },
    ];
    const events = askQuestions(app, { ...flags, model: undefined, filter, questions }, run);
    const output = {
      json,
      format,
      stream: json ? flags.stream === true : stream && app.config.agent.model !== OFFLINE_MODEL,
      requireGrounded: flags.requireGrounded,
      explain: verbose ? createConfiguredRedactor(app.config) : undefined,
      priceOf: createPriceCalculator({ currency: '', models: app.config.prices }),
    };
    return printAnswer(events, output, process);
  });
}

interface AnswerOutput {
  json: boolean;
  /** Prints the answer while it is generated; with `json`, every event as a line. */
  stream: boolean;
  format?: AnswerFormat | undefined;
  requireGrounded?: boolean | undefined;
  /** Given with --verbose: explains the turn on stderr, without secrets. */
  explain?: Redactor | undefined;
  priceOf?: CalculatePrice | undefined;
}

/** Prints an answer and returns the exit code. Throws a failure unless it was printed as JSON. */
export async function printAnswer(
  events: AsyncIterable<RunEvent>,
  { json, stream, format, requireGrounded = false, explain, priceOf }: AnswerOutput,
  streams: Pick<ProcessStreams, 'stdout' | 'stderr'>,
): Promise<number> {
  const printJson = (value: object) => streams.stdout.write(`${JSON.stringify(value)}\n`);
  let isErrorPrinted = false;
  const printEvent = (event: RunEvent) => {
    printJson(event);
    isErrorPrinted = event.type === 'error';
  };
  let turn: ConversationTurn;
  try {
    turn = await (json
      ? waitForTurn(events, stream ? printEvent : undefined)
      : renderTurn(events, streams, { stream, format, priceOf, verbose: explain !== undefined }));
  } catch (error) {
    if (isErrorPrinted) return exitCodeOf(error);
    throw error;
  }
  if (json && !stream) printJson(turn.response);
  if (explain) renderLedger(createTerminal(streams.stderr), explain.value(turn));
  const failure = failureOf(turn.response, requireGrounded);
  if (failure !== null && !json) throw failure;
  return failure === null ? EXIT_SUCCESS : exitCodeOf(failure);
}

function failureOf({ grounded, error }: AgentResponse, requireGrounded: boolean): AppError | null {
  if (error !== null) return fromErrorResponse(error);
  return grounded || !requireGrounded ? null : new AppError('not_grounded', 'The answer is not grounded.');
}

/** From the arguments, or from stdin if it is not a terminal. Throws `invalid_input` if it is blank. */
export async function readQuestion(
  { question = [] }: Pick<AskFlags, 'question'>,
  stdin: Stdin,
): Promise<string> {
  const given = question.join(' ').trim();
  const isPiped = given === '-' || (question.length === 0 && stdin.isTTY !== true);
  const found = isPiped ? (await text(stdin)).trim() : given;
  if (found !== '') return found;
  throw new AppError('invalid_input', 'The question is blank.', {
    hint: 'Example: citeloop ask "What is ROS 2?"',
  });
}

const MAX_ATTACHMENT = 5_000_000;

/** Text that is piped in beside a question in the arguments. Throws `invalid_input` if it cannot be used. */
async function readAttachment(
  { question = [], policy, record }: AskFlags,
  stdin: Stdin,
): Promise<string | undefined> {
  if (question.length === 0 || question.join(' ').trim() === '-' || !isPipeOrFile(stdin)) return undefined;
  const attached = await text(stdin);
  if (attached.trim() === '') return undefined;
  const refuse = (message: string, hint: string) => {
    throw new AppError('invalid_input', message, { hint });
  };
  if (attached.length > MAX_ATTACHMENT)
    refuse('The piped text is longer than 5 million characters.', 'Ingest it as a document.');
  if (attached.includes('\0')) refuse('The piped input is not text.', 'Ingest it as a document.');
  if (policy === 'never') refuse('--policy never ignores piped text.', 'Choose another policy.');
  if (record !== undefined)
    refuse('Piped text cannot be recorded on a tape.', 'Ingest it as a document, or omit --record.');
  return attached;
}

/** Other kinds of stdin are not read: a parent process may leave them open and never write to them. */
function isPipeOrFile(stdin: Stdin): boolean {
  if (stdin.isTTY === true) return false;
  if (stdin.fd === undefined) return true;
  const kind = fstatSync(stdin.fd);
  return kind.isFIFO() || kind.isFile();
}

export const conversationInputsSchema = z.object({
  mode: z.enum(SEARCH_MODES).optional(),
  user: z.string().optional(),
});

interface ConversationOptions extends z.infer<typeof conversationInputsSchema> {
  /** The id of a session to continue, its beginning, or `last`. */
  session?: string | undefined;
  /** Continues the newest session of this user and collection. */
  continue?: boolean | undefined;
  /** Rejected if it names a module that the collection does not have. */
  filter?: Filter | undefined;
  model?: string | undefined;
  isInteractive?: boolean | undefined;
}

interface Question {
  question: string;
  policy?: RetrievalPolicy | undefined;
  filter: Filter;
  attached?: string | undefined;
  reset?: boolean;
}

/** Asks questions in one session. Throws if the session cannot be opened. */
export async function* askQuestions(
  app: App,
  { questions, ...options }: ConversationOptions & { questions: readonly Question[] },
  run: CommandRun,
): AsyncGenerator<RunEvent, void, undefined> {
  const { session, close } = await openConversation(app, options, run);
  const { signal } = run;
  try {
    for (const { question, policy, filter, attached, reset } of questions) {
      signal.throwIfAborted();
      if (reset) await session.reset();
      yield* session.ask(question, { ...(policy && { policy }), filter, attached, signal });
    }
    await completeConversation(session);
  } finally {
    await close();
  }
}

/** Marks a session as completed; one that another process has continued stays active. */
export async function completeConversation(session: AgentSession): Promise<void> {
  await session.complete().catch((error: unknown) => {
    if (!(error instanceof AppError) || error.kind !== 'invalid_input') throw error;
  });
}

/** Opens an agent and a session: the given one, the newest, or a new one. */
export async function openConversation(
  app: App,
  options: ConversationOptions,
  run: CommandRun,
): Promise<OpenedAgent & { session: AgentSession }> {
  const open = await openConversationAgent(app, options, run);
  try {
    return { ...open, session: await openSession(open, options) };
  } catch (error) {
    await open.close();
    throw error;
  }
}

async function openSession(
  { agent, sessions, collection }: OpenedAgent,
  { session, continue: isContinued, user, isInteractive }: ConversationOptions,
): Promise<AgentSession> {
  if (session !== undefined) return agent.resumeSession(await resolveSessionId(sessions, session));
  if (!isContinued) return agent.startSession({ user, isInteractive });
  const newest = (await sessions.list({ user })).find((summary) => summary.collection === collection);
  if (newest !== undefined) return agent.resumeSession(newest.sessionId);
  throw new AppError('invalid_input', `No session to continue on ${collection}.`, {
    hint: 'Omit --continue to start one.',
  });
}

export async function openConversationAgent(
  app: App,
  { mode, session, filter, model }: ConversationOptions,
  { signal, tape }: CommandRun,
): Promise<OpenedAgent> {
  // Starts to load while the modules of the agent are imported.
  if (mode !== 'lexical') app.embedder().catch(() => {});
  const { openAgent } = await import('../../app/open-agent.ts');
  return openAgent(app, signal, { mode, session, filter, model, tape });
}

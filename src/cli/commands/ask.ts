import { fstatSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { completeTurn } from '../../agent/complete-turn.ts';
import type { AgentConfig } from '../../domain/agent-config.ts';
import type { AgentResponse } from '../../domain/agent-response.ts';
import type { ConversationTurn } from '../../domain/conversation-turn.ts';
import type { RunEvent } from '../../domain/run-event.ts';
import { type PriceOf, pricesBy } from '../../evaluation/run/prices.ts';
import { AppError } from '../../faults/app-error.ts';
import { fromErrorResponse } from '../../faults/error-response.ts';
import { EXIT_DONE, exitCodeOf } from '../../faults/exit-code.ts';
import { commandLineEvent, commandLineResponse } from '../advice.ts';
import type { AgentFlags } from '../flags/agent-flags.ts';
import { renderDetails } from '../terminal/render-details.ts';
import { type AnswerFormat, renderTurn } from '../terminal/render-turn.ts';
import type { Streams } from '../terminal/terminal.ts';
import { askQuestions } from './ask-questions.ts';
import { asSettings, filterOf, outputOf } from './read-flags.ts';
import { withApp } from './with-app.ts';

export interface AskFlags extends AgentFlags {
  question?: string[] | undefined;
  /** What follows `--`: a question may begin with a dash. */
  '--'?: string[] | undefined;
  requireGrounded?: boolean | undefined;
}

export async function runAsk(flags: AskFlags): Promise<void> {
  const question = await questionOf(flags, process.stdin);
  const attached = await attachedTo(flags, process.stdin);
  const filter = filterOf(flags);
  const { json, format } = outputOf(flags);
  process.exitCode = await withApp(
    { flags: asSettings(flags), taped: { command: 'ask', question, flags } },
    (app, run) => {
      const { config } = app;
      const stream = json ? flags.stream === true : config.agent.stream;
      const details = config.agent.verbose ? config.agent : null;
      const { requireGrounded = false } = flags;
      const priceOf = pricesBy({ currency: '', models: config.prices });
      const output = { stream, json, format, requireGrounded, details, priceOf };
      // A session that goes on keeps its own policy unless another was asked for.
      const policy = flags.policy === undefined ? undefined : config.agent.policy;
      // What --model says is in the configuration already.
      const inputs = {
        ...flags,
        model: undefined,
        filter,
        questions: [{ question, policy, filter, attached }],
      };
      return printAnswer(askQuestions(app, inputs, run), output, process);
    },
  );
}

interface Output {
  json: boolean;
  format?: AnswerFormat | undefined;
  priceOf?: PriceOf | undefined;
  /** With `json`, every event instead of the response. */
  stream: boolean;
  requireGrounded: boolean;
  /** The settings of the run, where its details are printed to stderr, too. */
  details?: AgentConfig | null;
}

/** Prints what comes of a question, and returns the exit code. Throws what a person, or a program without events, has to be told. */
export async function printAnswer(
  events: AsyncIterable<RunEvent>,
  { json, stream, format, requireGrounded, details = null, priceOf }: Output,
  streams: Pick<Streams, 'stdout' | 'stderr'>,
): Promise<number> {
  const explain = (turn: ConversationTurn) => details && renderDetails(streams.stderr, turn, details);
  if (json && stream) return printEvents(events, streams.stdout, requireGrounded, explain);
  const turn = await (json ? completeTurn(events) : renderTurn(events, streams, { stream, format, priceOf }));
  if (json) streams.stdout.write(`${JSON.stringify(commandLineResponse(turn.response))}\n`);
  explain(turn);
  const fault = faultOf(turn.response, requireGrounded);
  // A program reads `error` and `grounded` in the response; a person is told.
  if (fault !== null && !json) throw fault;
  return fault === null ? EXIT_DONE : exitCodeOf(fault);
}

async function printEvents(
  events: AsyncIterable<RunEvent>,
  stdout: NodeJS.WriteStream,
  requireGrounded: boolean,
  explain: (turn: ConversationTurn) => void,
): Promise<number> {
  let told = false;
  const print = (event: RunEvent) => {
    stdout.write(`${JSON.stringify(commandLineEvent(event))}\n`);
    told = event.type === 'error';
  };
  try {
    const turn = await completeTurn(events, print);
    explain(turn);
    const fault = faultOf(turn.response, requireGrounded);
    return fault === null ? EXIT_DONE : exitCodeOf(fault);
  } catch (error) {
    // A program has read it among the events.
    if (told) return exitCodeOf(error);
    throw error;
  }
}

/** What keeps an answer from counting as one: no search succeeded, or it is not grounded where it must be. */
function faultOf(
  { grounded, error }: Pick<AgentResponse, 'grounded' | 'error'>,
  requireGrounded: boolean,
): AppError | null {
  if (error !== null) return fromErrorResponse(error);
  if (grounded || !requireGrounded) return null;
  return new AppError('not_grounded', 'The answer is not borne out by the documents.');
}

/** The question from the arguments, or else from stdin unless somebody is typing there. Throws `invalid_input`. */
export async function questionOf(
  { question = [] }: Pick<AskFlags, 'question'>,
  stdin: Readable & { isTTY?: boolean },
): Promise<string> {
  const given = question.join(' ').trim();
  const fromStdin = given === '-' || (question.length === 0 && stdin.isTTY !== true);
  const whole = fromStdin ? (await text(stdin)).trim() : given;
  if (whole !== '') return whole;
  throw new AppError('invalid_input', 'The question is blank.', {
    hint: 'Ask for example: citeloop ask "What is ROS 2?"',
  });
}

/** More is no context any more but a document. */
const MAX_ATTACHED = 5_000_000;

/**
 * What is piped in beside a question that was given as an argument. Only a pipe or a file is read: whoever starts the
 * program from another one may leave its input open for ever. Throws `invalid_input`.
 */
async function attachedTo(
  { question = [], policy, record }: AskFlags,
  stdin: Readable & { isTTY?: boolean; fd?: number },
): Promise<string | undefined> {
  if (question.length === 0 || question.join(' ').trim() === '-' || !isPiped(stdin)) return undefined;
  const given = await text(stdin);
  if (given.trim() === '') return undefined;
  const refusal =
    given.length > MAX_ATTACHED
      ? ['What is piped in is longer than 5 million characters.', 'Ingest it as a document.']
      : given.includes('\0')
        ? ['What is piped in is not text.', 'Ingest it as a document.']
        : policy === 'never'
          ? ['With --policy never nothing is read, not even what is piped in.', 'Choose another policy.']
          : record !== undefined
            ? ['A tape does not keep what is piped in.', 'Ingest it as a document, or leave out --record.']
            : null;
  if (refusal === null) return given;
  throw new AppError('invalid_input', refusal[0] ?? '', { hint: refusal[1] ?? '' });
}

function isPiped(stdin: Readable & { isTTY?: boolean; fd?: number }): boolean {
  if (stdin.isTTY === true) return false;
  // A stand-in for the stream of the process ends by itself.
  if (stdin.fd === undefined) return true;
  const kind = fstatSync(stdin.fd);
  return kind.isFIFO() || kind.isFile();
}

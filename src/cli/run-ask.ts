import { text } from 'node:stream/consumers';
import type { AgentSession, AskOptions } from '../agent/agent.ts';
import type { AgentResponse } from '../domain/agent-response.ts';
import { AppError } from '../domain/app-error.ts';
import { EXIT_DONE, exitCodeOf } from '../domain/exit-code.ts';
import type { RunEvent } from '../domain/run-event.ts';
import type { AskFlags } from './ask.ts';
import { filterOf, settingsOf } from './chat/agent-settings.ts';
import { chooseSession } from './chat/choose-session.ts';
import { completedTurn, endedEarly } from './chat/completed-turn.ts';
import { failureOf } from './chat/failure-of.ts';
import type { Streams } from './chat/streams.ts';
import { renderTurn } from './render-turn.ts';
import { recordedFlags } from './tape/recorded-flags.ts';
import { withApp } from './with-app.ts';

export async function runAsk(flags: AskFlags): Promise<void> {
  const question = await questionOf(flags, process.stdin);
  const filter = filterOf(flags);
  process.exitCode = await withApp(
    settingsOf(flags),
    async (app, signal, tape) => {
      // The embedder is loaded in a thread of its own meanwhile.
      if (flags.mode !== 'lexical') app.embedder().catch(() => {});
      const { openAgent } = await import('./open-agent.ts');
      const opened = await openAgent(app, signal, {
        mode: flags.mode,
        tools: flags.tools,
        session: flags.session,
        filter,
        tape,
      });
      try {
        const session = await chooseSession(opened, flags);
        const stream = flags.json ? flags.stream === true : app.config.agent.stream;
        const output = { stream, json: flags.json ?? false, requireGrounded: flags.requireGrounded ?? false };
        // A session that goes on keeps its own policy unless another was asked for.
        const options = { ...(flags.policy && { policy: app.config.agent.policy }), filter, signal };
        return await answerQuestion({ session, question, options }, output, process);
      } finally {
        await opened.close();
      }
    },
    undefined,
    { command: 'ask', inputs: { question, flags: recordedFlags(flags) } },
  );
}

interface Asked {
  session: Pick<AgentSession, 'ask'>;
  question: string;
  options: AskOptions;
}

interface Output {
  json: boolean;
  /** With `json`, every event instead of the response. */
  stream: boolean;
  requireGrounded: boolean;
}

/** Asks, prints, and returns the exit code. Throws what a person, or a program without events, has to be told. */
export async function answerQuestion(
  { session, question, options }: Asked,
  { json, stream, requireGrounded }: Output,
  streams: Pick<Streams, 'stdout' | 'stderr'>,
): Promise<number> {
  const events = session.ask(question, options);
  if (json && stream) return printEvents(events, streams.stdout, requireGrounded);
  const turn = await (json ? completedTurn(events) : renderTurn(events, streams, { stream }));
  if (json) streams.stdout.write(`${JSON.stringify(turn.response)}\n`);
  const fault = faultOf(turn.response, requireGrounded);
  // A program reads `error` and `grounded` in the response; a person is told.
  if (fault !== null && !json) throw fault;
  return fault === null ? EXIT_DONE : exitCodeOf(fault);
}

async function printEvents(
  events: AsyncIterable<RunEvent>,
  stdout: NodeJS.WriteStream,
  requireGrounded: boolean,
): Promise<number> {
  let code: number | undefined;
  for await (const event of events) {
    stdout.write(`${JSON.stringify(event)}\n`);
    if (event.type === 'error') code = exitCodeOf(failureOf(event.error));
    if (event.type === 'turn_completed') {
      const fault = faultOf(event.turn.response, requireGrounded);
      code = fault === null ? EXIT_DONE : exitCodeOf(fault);
    }
  }
  return code ?? endedEarly();
}

/** What keeps an answer from counting as one: no search succeeded, or it is not grounded where it must be. */
function faultOf(
  { grounded, error }: Pick<AgentResponse, 'grounded' | 'error'>,
  requireGrounded: boolean,
): AppError | null {
  if (error !== null) return failureOf(error);
  if (grounded || !requireGrounded) return null;
  return new AppError('not_grounded', 'The answer is not borne out by the documents.');
}

/** The question from the arguments, or else from stdin unless somebody is typing there. Throws `invalid_input`. */
export async function questionOf(
  { question = [] }: Pick<AskFlags, 'question'>,
  stdin: NodeJS.ReadStream,
): Promise<string> {
  const given = question.join(' ').trim();
  const fromStdin = given === '-' || (question.length === 0 && stdin.isTTY !== true);
  const asked = fromStdin ? (await text(stdin)).trim() : given;
  if (asked !== '') return asked;
  throw new AppError('invalid_input', 'The question is blank.', {
    hint: 'Ask for example: citeloop ask "What is ROS 2?"',
  });
}

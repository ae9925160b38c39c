import * as z from 'zod';
import type { AgentSession } from '../../agent/agent.ts';
import type { App } from '../../app/create-app.ts';
import type { OpenAgent } from '../../app/open-agent.ts';
import { resolveSessionId } from '../../app/sessions.ts';
import type { Policy } from '../../domain/agent-config.ts';
import { SEARCH_MODES } from '../../domain/choices.ts';
import type { Filter } from '../../domain/query.ts';
import type { RunEvent } from '../../domain/run-event.ts';
import { AppError } from '../../faults/app-error.ts';
import type { Run } from '../../tape/tape-run.ts';

/** What is asked for of a conversation besides its questions, as flags and tapes say it. */
export const conversationSchema = z.object({
  mode: z.enum(SEARCH_MODES).optional(),
  tools: z.array(z.string()).optional(),
  user: z.string().optional(),
});

interface ConversationInputs extends z.infer<typeof conversationSchema> {
  /** The id of a session that goes on, its beginning, or `last`. */
  session?: string | undefined;
  /** Goes on with the newest session of this user and collection. */
  continue?: boolean | undefined;
  /** Checked for modules that the collection does not have. */
  filter?: Filter | undefined;
  /** Instead of the configured model. */
  model?: string | undefined;
  /** Whether a person types the questions. */
  isInteractive?: boolean | undefined;
}

interface Question {
  question: string;
  policy?: Policy | undefined;
  filter: Filter;
  /** A text that is given along. */
  attached?: string | undefined;
  /** Whether the conversation is reset before. */
  reset?: boolean;
}

/** Asks one question after the other in one conversation. Throws what keeps it from being opened. */
export async function* askQuestions(
  app: App,
  { questions, ...inputs }: ConversationInputs & { questions: readonly Question[] },
  run: Run,
): AsyncGenerator<RunEvent, void, undefined> {
  const { session, close } = await openConversation(app, inputs, run);
  const { signal } = run;
  try {
    for (const { question, policy, filter, attached, reset } of questions) {
      signal.throwIfAborted();
      if (reset) await session.reset();
      yield* session.ask(question, { ...(policy && { policy }), filter, attached, signal });
    }
  } finally {
    await close();
  }
}

/** The agent and the session that are asked for. */
export async function openConversation(
  app: App,
  inputs: ConversationInputs,
  run: Run,
): Promise<OpenAgent & { session: AgentSession }> {
  const open = await openAgentFor(app, inputs, run);
  try {
    return { ...open, session: await chooseSession(open, inputs) };
  } catch (error) {
    await open.close();
    throw error;
  }
}

/** The session that is asked for: a given one, the last one, or a new one. Throws `invalid_input`. */
async function chooseSession(
  { agent, sessions, collection }: Pick<OpenAgent, 'agent' | 'sessions' | 'collection'>,
  { session, continue: last, user, isInteractive }: ConversationInputs,
): Promise<AgentSession> {
  if (session !== undefined) return agent.resumeSession(await resolveSessionId(sessions, session));
  if (!last) return agent.startSession({ user, isInteractive });
  const newest = (await sessions.list({ user })).find((summary) => summary.collection === collection);
  if (newest === undefined) {
    throw new AppError('invalid_input', `There is no session on ${collection} to continue.`, {
      hint: 'Leave out --continue to start one.',
    });
  }
  return agent.resumeSession(newest.sessionId);
}

/** The agent that a conversation is held with. */
export async function openAgentFor(
  app: App,
  { mode, tools, session, filter, model }: ConversationInputs,
  { signal, tape }: Run,
): Promise<OpenAgent> {
  // The embedder is loaded in a thread of its own meanwhile.
  if (mode !== 'lexical') app.embedder().catch(() => {});
  const { openAgent } = await import('../../app/open-agent.ts');
  return openAgent(app, signal, { mode, tools, session, filter, model, tape });
}

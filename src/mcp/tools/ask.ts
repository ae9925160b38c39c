import * as z from 'zod';
import type { Agent, AgentSession } from '../../agent/agent.ts';
import { OFFLINE_MODEL, policySchema } from '../../domain/agent-config.ts';
import type { AgentResponse } from '../../domain/agent-response.ts';
import { AppError } from '../../domain/app-error.ts';
import { type ErrorResponse, userAdvice } from '../../domain/error-response.ts';
import type { RunEvent } from '../../domain/run-event.ts';
import type { Library } from '../library.ts';
import type { Call, Tool } from '../tool.ts';
import { askOutputSchema, toAskOutput } from './ask-output.ts';
import { createOneTurnAtATime } from './one-turn-at-a-time.ts';
import { progressMessage } from './progress-message.ts';

const input = z.object({
  question: z.string().trim().min(1).max(8000).describe('The question, in whole sentences.'),
  session_id: z
    .uuidv4()
    .nullish()
    .describe('Goes on with this conversation: the session_id of an earlier answer.'),
  module: z.string().trim().min(1).max(200).nullish().describe('Search only documents of this module.'),
  policy: policySchema
    .nullish()
    .describe('Who decides to search: tool (the model), always, first (the first step must), never.'),
});

export function createAsk(library: Library): Tool<typeof input, typeof askOutputSchema> {
  const inTurn = createOneTurnAtATime();
  return {
    name: 'ask',
    title: 'Ask the documents',
    description:
      `Have a question answered from the user's documents by the model "${library.model}", with citations that ` +
      'were checked against the sources. Not grounded means that no citation bears the answer out. The conversation ' +
      'is kept: give its session_id to ask a follow-up.',
    input,
    output: askOutputSchema,
    annotations: {
      readOnlyHint: false,
      destructiveHint: false,
      idempotentHint: false,
      openWorldHint: library.model !== OFFLINE_MODEL,
    },
    async run({ question, session_id, module, policy }, call) {
      const filter = await library.moduleFilter(module);
      const agent = await library.agent();
      const options = { ...(policy && { policy }), filter, signal: call.signal };
      if (session_id == null) {
        const session = await agent.startSession();
        return toAskOutput(await answered(session.ask(question, options), call));
      }
      const { store } = await library.collection();
      return inTurn(session_id, async () => {
        call.signal.throwIfAborted();
        const session = await resumed(agent, session_id, store.name);
        return toAskOutput(await answered(session.ask(question, options), call));
      });
    },
  };
}

/** Conversations about other collections are none of this server's business. */
async function resumed(agent: Agent, sessionId: string, collection: string): Promise<AgentSession> {
  const unknown = new AppError('invalid_input', `There is no session ${sessionId} on this collection.`, {
    hint: 'Leave out session_id to start one.',
  });
  const session = await agent.resumeSession(sessionId).catch((error: unknown) => {
    throw error instanceof AppError && error.kind === 'invalid_input' ? unknown : error;
  });
  if (session.snapshot().collection !== collection) throw unknown;
  return session;
}

async function answered(events: AsyncIterable<RunEvent>, { report }: Call): Promise<AgentResponse> {
  let response: AgentResponse | undefined;
  for await (const event of events) {
    if (event.type === 'error') throw failureOf(event.error);
    if (event.type === 'turn_completed') response = event.turn.response;
    const message = progressMessage(event);
    if (message !== null) report(message);
  }
  if (response !== undefined) return response;
  throw new AppError('api_error', 'The turn ended without an answer.', { recoverable: true });
}

function failureOf({ errorType, message, userMessage, retryAfter, recoverable }: ErrorResponse): AppError {
  const hint = userMessage.replace(userAdvice[errorType].sentence, '').trim();
  return new AppError(errorType, message, {
    hint,
    recoverable,
    ...(retryAfter !== null && { retryAfter }),
  });
}

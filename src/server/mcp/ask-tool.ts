import * as z from 'zod';
import type { Agent, AgentSession } from '../../agent/agent.ts';
import { waitForTurn } from '../../agent/wait-for-turn.ts';
import { createKeyedLock } from '../../async/concurrency-gate.ts';
import { isLocalModel, policySchema } from '../../domain/agent-config.ts';
import {
  type AgentResponse,
  confidenceSchema,
  outcomeSchema,
  tokensUsedSchema,
} from '../../domain/agent-response.ts';
import { checkedBySchema, flagReasonSchema, sentenceVerdictSchema } from '../../domain/checked-sentence.ts';
import { verdictSchema } from '../../domain/citation.ts';
import type { RunEvent } from '../../domain/run-event.ts';
import { AppError } from '../../faults/app-error.ts';
import { formatCount } from '../../text/format-count.ts';
import { oneLine } from '../../text/visible-text.ts';
import { defineTool, type RegisterTool } from './define-tool.ts';
import type { McpLibrary } from './mcp-library.ts';

const MAX_QUERY = 120;

const input = z.object({
  question: z.string().trim().min(1).max(8000).describe('The question, as a full sentence.'),
  session_id: z
    .uuidv4('Give the session_id of an earlier answer, or leave it out.')
    .nullish()
    .describe('The session_id of an earlier answer, to ask a follow-up.'),
  module: z.string().trim().min(1).max(200).nullish().describe('Search only documents in this module.'),
  policy: policySchema
    .nullish()
    .describe('When to search: tool (the model decides), always, first (in the first step), never.'),
});

const range = z.object({ start: z.int(), end: z.int() });

/** What a client needs of an AgentResponse, in snake case. */
const output = z.object({
  answer: z.string().describe('The answer, with markers like [1] that refer to citations.'),
  outcome: outcomeSchema.describe('answer, passages (the closest ones, which may not answer) or none.'),
  grounded: z.boolean().describe('Whether a citation that is not flagged supports the answer.'),
  confidence: confidenceSchema.describe(
    'About the search: high if a passage reached the threshold, low if only weaker ones were found.',
  ),
  citations: z.array(
    z.object({
      marker: z.string(),
      title: z.string(),
      url: z.string(),
      module: z.string().nullable(),
      excerpt: z.string(),
      score: z.number(),
      verdict: verdictSchema.describe('Whether the passage supports the sentences that cite it.'),
      ref: z.string().nullable().describe('The id of the passage, for read_source.'),
    }),
  ),
  sentences: z
    .array(
      range.extend({
        text: z.string().describe('The sentence without its markers.'),
        markers: z.array(z.string()).describe('The markers of the cited sources.'),
        verdict: sentenceVerdictSchema
          .nullable()
          .describe('Whether the cited sources support it; null without a citation.'),
        reason: flagReasonSchema.nullable().describe('Why it is unsupported.'),
        evidence: range
          .extend({ ref: z.string(), text: z.string() })
          .nullable()
          .describe(
            'The part of a cited passage that matches it best; start and end are offsets in the passage.',
          ),
      }),
    )
    .describe(
      'The sentences of the answer, checked against the sources they cite, with offsets in the answer.',
    ),
  checked_by: checkedBySchema.describe('How citations were checked: words, model, onnx or off.'),
  session_id: z.string().describe('Send it with a follow-up question.'),
  turn_number: z.int(),
  model: z.string(),
  tokens_used: tokensUsedSchema,
  total_time_ms: z.int(),
});

export function createMcpAskTool(library: McpLibrary): RegisterTool {
  const turns = createKeyedLock();
  return defineTool({
    name: 'ask',
    title: 'Ask the documents',
    description:
      (isLocalModel(library.model)
        ? "Quote the sections of the user's documents that answer a question; no language model combines them. "
        : `Answer a question from the user's documents with the model "${library.model}". `) +
      'Citations are checked against their sources; an answer is not grounded if no citation supports it. Send the ' +
      'session_id of an answer to ask a follow-up.',
    input,
    output,
    annotations: {
      readOnlyHint: false,
      destructiveHint: false,
      idempotentHint: false,
      openWorldHint: !isLocalModel(library.model),
    },
    async run({ question, session_id, module, policy }, call) {
      const filter = await library.moduleFilter(module);
      const agent = await library.agent();
      const options = { ...(policy && { policy }), filter, signal: call.signal };
      const ask = async (session: AgentSession) => {
        const { response } = await waitForTurn(session.ask(question, options), (event) => {
          const message = toProgressMessage(event);
          if (message !== null) call.report(message);
        });
        return toOutput(response);
      };
      if (session_id == null) return ask(await agent.startSession());
      const { store } = await library.collection();
      return turns.run(session_id, async () => {
        call.signal.throwIfAborted();
        return ask(await resumeSession(agent, session_id, store.name));
      });
    },
  });
}

/** Throws `invalid_input` for a session that does not exist or uses another collection. */
async function resumeSession(agent: Agent, sessionId: string, collection: string): Promise<AgentSession> {
  const unknown = new AppError('invalid_input', `Unknown session ${sessionId}.`, {
    hint: 'Leave out session_id to start a session.',
  });
  const session = await agent.resumeSession(sessionId).catch((error: unknown) => {
    throw error instanceof AppError && error.kind === 'invalid_input' ? unknown : error;
  });
  if (session.snapshot().collection !== collection) throw unknown;
  return session;
}

/** Null for events that are no progress. */
function toProgressMessage(event: RunEvent): string | null {
  switch (event.type) {
    case 'phase':
      return event.to === 'generating' ? 'Generating the answer' : null;
    case 'retrieval_started':
      return `Searching for "${oneLine(event.query, MAX_QUERY)}"`;
    case 'retrieval_finished':
      return event.context === null
        ? `The search failed: ${oneLine(event.error?.message ?? 'unknown reason', 200)}`
        : `Found ${formatCount(event.context.chunks.length, 'passage')}`;
    case 'notice':
      return oneLine(event.message, 300);
    default:
      return null;
  }
}

function toOutput(response: AgentResponse): z.input<typeof output> {
  return {
    ...response,
    citations: response.citations.map((citation) => ({ ...citation, ref: citation.chunkId })),
    sentences: response.sentences.map((sentence) => ({
      ...sentence,
      markers: sentence.refs,
      evidence: sentence.evidence && { ...sentence.evidence, ref: sentence.evidence.chunkId },
    })),
    checked_by: response.checkedBy,
    session_id: response.sessionId,
    turn_number: response.turnNumber,
    tokens_used: response.tokensUsed,
    total_time_ms: Math.round(response.totalTimeMs),
  };
}

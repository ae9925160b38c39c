import * as z from 'zod';
import type { Agent, AgentSession } from '../../agent/agent.ts';
import { completeTurn } from '../../agent/complete-turn.ts';
import { createKeyedLock } from '../../async/gate.ts';
import { policySchema, runsHere } from '../../domain/agent-config.ts';
import {
  type AgentResponse,
  confidenceSchema,
  outcomeSchema,
  tokensUsedSchema,
} from '../../domain/agent-response.ts';
import { checkedBySchema, sentenceVerdictSchema } from '../../domain/checked-sentence.ts';
import { verdictSchema } from '../../domain/citation.ts';
import type { RunEvent } from '../../domain/run-event.ts';
import { AppError } from '../../faults/app-error.ts';
import { oneLine } from '../../text/visible-text.ts';
import type { Library } from './library.ts';
import { sourceUri } from './source-index.ts';
import { type Call, defineTool, type Tool } from './tool.ts';

const MAX_QUERY = 120;

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

const range = z.object({ start: z.int(), end: z.int() });

/** An AgentResponse under the names that a model reads. */
const output = z.object({
  answer: z.string().describe('With markers like [1] that point at citations.'),
  outcome: outcomeSchema.describe('An answer, the closest passages that may or may not answer, or none.'),
  grounded: z.boolean().describe('Whether a citation that was checked bears the answer out.'),
  confidence: confidenceSchema.describe('Whether the answer is likely to answer the question.'),
  citations: z.array(
    z.object({
      marker: z.string(),
      title: z.string(),
      url: z.string(),
      module: z.string().nullable(),
      excerpt: z.string(),
      score: z.number(),
      verdict: verdictSchema.describe('Whether the passage bears out what the answer says with it.'),
      ref: z.string().nullable().describe('Names the passage; read_source takes it.'),
      resource: z.string().nullable().describe('The resource that holds the whole document.'),
    }),
  ),
  sentences: z
    .array(
      range.extend({
        text: z.string().describe('Without its markers.'),
        markers: z.array(z.string()).describe('Of the citations that are to bear it out.'),
        verdict: sentenceVerdictSchema
          .nullable()
          .describe('By all that it cites; null where it cites nothing.'),
        probability: z
          .number()
          .nullable()
          .describe('The calibrated chance that people would call it supported; null by words alone.'),
        evidence: range
          .extend({ ref: z.string(), text: z.string() })
          .nullable()
          .describe(
            'The sentence of a passage that supports it best; start and end are offsets in the passage.',
          ),
        unsupported_spans: z
          .array(range.extend({ text: z.string() }))
          .describe('Spans of the answer that no cited passage supports.'),
      }),
    )
    .describe(
      'The sentences of the answer, each held against what it cites; start and end are of the answer.',
    ),
  checked_by: checkedBySchema.describe('The judge, which reads, or words alone.'),
  session_id: z.string().describe('Give it with a follow-up question.'),
  turn_number: z.int(),
  query: z.string(),
  model: z.string(),
  retrieval_performed: z.boolean(),
  retrieval_count: z.int(),
  retrieved_sources: z.array(z.string()),
  tokens_used: tokensUsedSchema,
  retrieval_time_ms: z.int(),
  generation_time_ms: z.int(),
  total_time_ms: z.int(),
  timestamp: z.string(),
});

export function createAsk(library: Library): Tool {
  const turns = createKeyedLock();
  return defineTool({
    name: 'ask',
    title: 'Ask the documents',
    description:
      `Have a question answered from the user's documents by the model "${library.model}", with citations that ` +
      'were checked against the sources. Not grounded means that no citation bears the answer out. The conversation ' +
      'is kept: give its session_id to ask a follow-up.',
    input,
    output,
    annotations: {
      readOnlyHint: false,
      destructiveHint: false,
      idempotentHint: false,
      openWorldHint: !runsHere(library.model),
    },
    async run({ question, session_id, module, policy }, call) {
      const filter = await library.moduleFilter(module);
      const agent = await library.agent();
      const options = { ...(policy && { policy }), filter, signal: call.signal };
      if (session_id == null) {
        const session = await agent.startSession();
        return toOutput(await answer(session.ask(question, options), call));
      }
      const { store } = await library.collection();
      return turns.run(session_id, async () => {
        call.signal.throwIfAborted();
        const session = await resume(agent, session_id, store.name);
        return toOutput(await answer(session.ask(question, options), call));
      });
    },
  });
}

/** Conversations about other collections are none of this server's business. */
async function resume(agent: Agent, sessionId: string, collection: string): Promise<AgentSession> {
  const unknown = new AppError('invalid_input', `There is no session ${sessionId} on this collection.`, {
    hint: 'Leave out session_id to start one.',
  });
  const session = await agent.resumeSession(sessionId).catch((error: unknown) => {
    throw error instanceof AppError && error.kind === 'invalid_input' ? unknown : error;
  });
  if (session.snapshot().collection !== collection) throw unknown;
  return session;
}

async function answer(events: AsyncIterable<RunEvent>, { report }: Call): Promise<AgentResponse> {
  const { response } = await completeTurn(events, (event) => {
    const message = progressMessage(event);
    if (message !== null) report(message);
  });
  return response;
}

/** What somebody who waits for an answer is told about an event; null for what only matters at the end. */
function progressMessage(event: RunEvent): string | null {
  switch (event.type) {
    case 'phase':
      return event.to === 'generating' ? 'The model is at work' : null;
    case 'retrieval_started':
      return `Searching for "${oneLine(event.query, MAX_QUERY)}"`;
    case 'retrieval_finished':
      return event.context === null
        ? `The search failed: ${oneLine(event.error?.message ?? 'no reason given', 200)}`
        : found(event.context.chunks.length);
    case 'notice':
      return oneLine(event.message, 300);
    default:
      return null;
  }
}

function found(passages: number): string {
  if (passages === 0) return 'Found nothing';
  return passages === 1 ? 'Found 1 passage' : `Found ${passages} passages`;
}

function toOutput(response: AgentResponse): z.input<typeof output> {
  return {
    answer: response.answer,
    outcome: response.outcome,
    grounded: response.grounded,
    confidence: response.confidence,
    citations: response.citations.map(({ chunkId, ...citation }) => ({
      marker: citation.marker,
      title: citation.title,
      url: citation.url,
      module: citation.module,
      excerpt: citation.excerpt,
      score: citation.score,
      verdict: citation.verdict,
      ref: chunkId,
      resource: chunkId === null ? null : sourceUri(citation.url),
    })),
    sentences: response.sentences.map(({ start, end, text, refs, verdict, probability, ...found }) => ({
      start,
      end,
      text,
      markers: refs,
      verdict,
      probability,
      evidence: found.evidence && {
        ref: found.evidence.chunkId,
        start: found.evidence.start,
        end: found.evidence.end,
        text: found.evidence.text,
      },
      unsupported_spans: found.unsupportedSpans.map((words) => ({
        ...words,
        text: response.answer.slice(words.start, words.end),
      })),
    })),
    checked_by: response.checkedBy,
    session_id: response.sessionId,
    turn_number: response.turnNumber,
    query: response.query,
    model: response.model,
    retrieval_performed: response.retrievalPerformed,
    retrieval_count: response.retrievalCount,
    retrieved_sources: response.retrievedSources,
    tokens_used: response.tokensUsed,
    retrieval_time_ms: Math.round(response.retrievalTimeMs),
    generation_time_ms: Math.round(response.generationTimeMs),
    total_time_ms: Math.round(response.totalTimeMs),
    timestamp: response.timestamp,
  };
}

import * as z from 'zod';
import { type AgentResponse, confidenceSchema, tokensUsedSchema } from '../../domain/agent-response.ts';
import { verdictSchema } from '../../domain/citation.ts';
import { sourceUri } from '../resources/source-uri.ts';

/** An AgentResponse under the names that a model reads. */
export const askOutputSchema = z.object({
  answer: z.string().describe('With markers like [1] that point at citations.'),
  grounded: z.boolean().describe('Whether a citation that was checked bears the answer out.'),
  confidence: confidenceSchema.describe('How near the best passage was to the question.'),
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

export function toAskOutput(response: AgentResponse): z.input<typeof askOutputSchema> {
  return {
    answer: response.answer,
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

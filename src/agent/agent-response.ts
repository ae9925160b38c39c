import { type AgentResponse, confidenceOf, isGrounded } from '../domain/agent-response.ts';
import type { Citation } from '../domain/citation.ts';
import type { RetrievalContext } from '../domain/retrieval-context.ts';

interface Parts
  extends Pick<
    AgentResponse,
    'query' | 'sessionId' | 'turnNumber' | 'model' | 'tokensUsed' | 'retrievalCount' | 'error' | 'timestamp'
  > {
  answer: string;
  citations: Citation[];
  retrievals: readonly RetrievalContext[];
  retrievalTimeMs: number;
  totalTimeMs: number;
}

/** All that is known about an answer. Grounding and confidence are computed here, never claimed by a model. */
export function toAgentResponse({ retrievals, ...parts }: Parts): AgentResponse {
  const chunks = retrievals.flatMap((retrieval) => retrieval.chunks);
  const nearMisses = retrievals.flatMap(({ nearMiss }) => nearMiss ?? []);
  const scores = [...chunks, ...nearMisses].map(({ score }) => score);
  return {
    ...parts,
    retrievalPerformed: parts.retrievalCount > 0,
    retrievedSources: [...new Set(chunks.map(({ url }) => url))],
    grounded: isGrounded(parts.answer, parts.citations),
    confidence: confidenceOf(scores, retrievals[0]?.scoreThreshold ?? 0),
    generationTimeMs: Math.max(0, parts.totalTimeMs - parts.retrievalTimeMs),
  };
}

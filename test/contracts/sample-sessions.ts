import { randomUUID } from 'node:crypto';
import type { Citation } from '../../src/domain/citation.ts';
import type { ConversationMessage } from '../../src/domain/conversation-message.ts';
import {
  appendMessages,
  type ConversationSession,
  createSession,
  sessionTotals,
} from '../../src/domain/conversation-session.ts';
import {
  type ConversationTurn,
  toAnswerEntry,
  toSearchEntry,
  withCitedChunks,
} from '../../src/domain/conversation-turn.ts';
import { createRetrievalContext } from '../../src/domain/retrieval-context.ts';
import type { RetrievedChunk } from '../../src/domain/retrieved-chunk.ts';

export const NOW = '2026-11-16T07:00:00.000Z';

const common = { citations: [], tokenCount: 5, timestamp: NOW, metadata: {} };

/** A session without turns, with defaults. */
export function sampleSession(fields: Partial<ConversationSession> = {}): ConversationSession {
  return {
    ...createSession({
      sessionId: randomUUID(),
      createdAt: NOW,
      model: 'offline',
      policy: 'tool',
      collection: 'web_documents',
      systemMessage: { ...common, id: 'system', role: 'system', content: 'You answer from documents.' },
    }),
    ...fields,
  };
}

export interface SampleTurn {
  question?: string;
  answer?: string;
  chunks?: RetrievedChunk[];
  citations?: Citation[];
}

export interface CommittedTurn {
  /** After the turn. */
  session: ConversationSession;
  messages: ConversationMessage[];
  turn: ConversationTurn;
}

/** The next turn of a session, as `commitTurn` takes it. */
export function sampleTurn(before: ConversationSession, sample: SampleTurn = {}): CommittedTurn {
  const turnNumber = sessionTotals(before).turnCount + 1;
  const question = sample.question ?? `Question ${turnNumber}?`;
  const answer = sample.answer ?? `Answer ${turnNumber}.`;
  const citations = sample.citations ?? [];
  const retrieval = createRetrievalContext({
    query: question,
    chunks: sample.chunks ?? [],
    scoreThreshold: 0.3,
    queryTimeMs: 2,
    retrievedAt: NOW,
  });
  const call = {
    id: `call-${turnNumber}`,
    name: 'search_docs',
    arguments: JSON.stringify({ query: question }),
  };
  const messages: ConversationMessage[] = [
    { ...common, id: `u${turnNumber}`, role: 'user', content: question },
    { ...common, id: `t${turnNumber}`, role: 'assistant', content: null, toolCalls: [call] },
    { ...common, id: `r${turnNumber}`, role: 'tool', content: '{}', toolCallId: call.id, name: call.name },
    { ...common, id: `a${turnNumber}`, role: 'assistant', content: answer, toolCalls: [], citations },
  ];
  const session = appendMessages(before, messages, { tokens: 30 });
  const response = {
    answer,
    citations,
    query: question,
    sessionId: session.sessionId,
    turnNumber,
    retrievalPerformed: true,
    retrievalCount: 1,
    chunkCount: 0,
    retrievedSources: [],
    model: session.model,
    tokensUsed: { prompt: 20, completion: 10, total: 30 },
    grounded: citations.some(({ verdict }) => verdict === 'supported'),
    outcome: 'answer' as const,
    confidence: 'none' as const,
    sentences: [],
    checkedBy: 'words' as const,
    finishReason: 'stop' as const,
    retrievalTimeMs: 2,
    generationTimeMs: 40,
    totalTimeMs: 45,
    error: null,
    timestamp: NOW,
  };
  const turn: ConversationTurn = {
    turnId: `turn-${turnNumber}`,
    userQuery: question,
    retrievals: [retrieval],
    response,
    timestamp: NOW,
    durationSeconds: 0.045,
    decisions: withCitedChunks([toSearchEntry(1, retrieval), toAnswerEntry(2)], citations),
  };
  return { session, messages, turn };
}

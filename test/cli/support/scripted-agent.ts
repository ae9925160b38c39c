import { randomUUID } from 'node:crypto';
import type { AgentSession, AskOptions } from '../../../src/agent/agent.ts';
import type { OpenedAgent } from '../../../src/app/open-agent.ts';
import type { AgentResponse } from '../../../src/domain/agent-response.ts';
import type { ConversationMessage } from '../../../src/domain/conversation-message.ts';
import {
  appendMessages,
  type ConversationSession,
  completeSession,
  createSession,
  resetSession,
} from '../../../src/domain/conversation-session.ts';
import {
  type ConversationTurn,
  toAnswerEntry,
  toSearchEntry,
  withCitedChunks,
} from '../../../src/domain/conversation-turn.ts';
import { createRetrievalContext } from '../../../src/domain/retrieval-context.ts';
import type { RunEvent } from '../../../src/domain/run-event.ts';
import { AppError } from '../../../src/faults/app-error.ts';
import type { SessionStore } from '../../../src/ports/session-store.ts';
import { chunk, citation, NOW } from '../../domain/arbitraries.ts';

export const found = createRetrievalContext({
  query: 'topics in ROS 2',
  filter: { module: ['basics'] },
  chunks: [
    chunk(),
    chunk({ chunkId: 'chunk-2', title: 'Services', headings: ['Services', 'Calls'], score: 0.7 }),
    chunk({ chunkId: 'chunk-3', title: 'Actions', headings: [], score: 0.9 }),
  ],
  scoreThreshold: 0.35,
  queryTimeMs: 4,
  retrievedAt: NOW,
});

export function turnOf(fields: Partial<AgentResponse> = {}, retrievals = [found]): ConversationTurn {
  const response: AgentResponse = {
    answer: 'A node publishes messages on a topic [1].',
    citations: [citation()],
    query: 'What is a topic?',
    sessionId: '3f2b8c1e-9d4a-4c6b-8e7f-0a1b2c3d4e5f',
    turnNumber: 1,
    retrievalPerformed: retrievals.length > 0,
    retrievalCount: retrievals.length,
    chunkCount: 0,
    retrievedSources: [],
    model: 'offline',
    tokensUsed: { prompt: 300, completion: 12, total: 312 },
    outcome: 'answer',
    grounded: true,
    confidence: 'high',
    sentences: [],
    checkedBy: 'words',
    finishReason: 'stop',
    retrievalTimeMs: 4,
    generationTimeMs: 1200,
    totalTimeMs: 1204,
    error: null,
    timestamp: NOW,
    ...fields,
  };
  const searched = retrievals.map((context, index) => toSearchEntry(index + 1, context));
  return {
    turnId: randomUUID(),
    userQuery: response.query,
    retrievals: [...retrievals],
    response,
    timestamp: NOW,
    durationSeconds: 1.2,
    decisions: withCitedChunks([...searched, toAnswerEntry(searched.length + 1)], response.citations),
  };
}

/** The events of a turn with one search and an answer in these pieces. */
export function eventsOf(
  turn: ConversationTurn,
  deltas: readonly string[] = [turn.response.answer],
): RunEvent[] {
  const context = turn.retrievals[0];
  const search: RunEvent[] =
    context === undefined
      ? []
      : [
          { type: 'phase', from: 'idle', to: 'retrieving' },
          { type: 'retrieval_started', retrievalId: 'r1', query: context.query, topK: 5, filter: {} },
          { type: 'retrieval_finished', retrievalId: 'r1', context, error: null },
        ];
  return [
    ...search,
    { type: 'phase', from: 'retrieving', to: 'generating' },
    ...deltas.map((delta): RunEvent => ({ type: 'text_delta', delta })),
    { type: 'citations', citations: turn.response.citations },
    { type: 'phase', from: 'generating', to: 'idle' },
    { type: 'turn_completed', turn },
  ];
}

/** The events of a turn and its pauses; `wait` lasts until the turn is stopped. */
export type Script = (question: string, options: AskOptions) => readonly (RunEvent | 'wait' | AppError)[];

interface ScriptedAgent {
  open: OpenedAgent;
  asked: { question: string; options: AskOptions; sessionId: string }[];
}

/** An agent that plays a script and keeps its sessions in memory. */
export function scriptedAgent(script: Script, model = 'offline'): ScriptedAgent {
  const asked: ScriptedAgent['asked'] = [];
  const sessions = new Map<string, ConversationSession>();
  const turns = new Map<string, ConversationTurn[]>();

  function open(id: string): AgentSession {
    let last = turns.get(id)?.at(-1) ?? null;
    const current = () => sessions.get(id) ?? neverCreated();
    return {
      id,
      snapshot: current,
      lastTurn: () => last,
      async reset() {
        sessions.set(id, resetSession(current(), NOW));
        last = null;
      },
      async complete() {
        sessions.set(id, completeSession(current()));
      },
      async *ask(question, options = {}) {
        asked.push({ question, options, sessionId: id });
        for (const step of script(question, options)) {
          if (step instanceof AppError) throw step;
          if (step === 'wait') await raised(options.signal);
          else yield step;
          if (step !== 'wait' && step.type === 'turn_completed') {
            last = step.turn;
            turns.set(id, [...(turns.get(id) ?? []), step.turn]);
            const common = { id: 'm', timestamp: NOW, citations: [], tokenCount: 0, metadata: {} };
            const { answer } = step.turn.response;
            const exchange: ConversationMessage[] = [
              { ...common, role: 'user', content: question },
              { ...common, role: 'assistant', content: answer, toolCalls: [] },
            ];
            sessions.set(id, appendMessages(current(), exchange));
          }
        }
      },
    };
  }

  const store: Pick<SessionStore, 'list' | 'turns'> = {
    async list() {
      return Array.from(sessions.values(), ({ sessionId, turnCount, status, isInteractive }) => ({
        sessionId,
        status,
        isInteractive,
        user: null,
        title: turns.get(sessionId)?.[0]?.userQuery ?? null,
        model,
        policy: 'tool' as const,
        collection: 'handbook',
        createdAt: NOW,
        updatedAt: NOW,
        turnCount,
        retrievalCount: 0,
        totalTokensUsed: 0,
      }));
    },
    async *turns(sessionId) {
      for (const turn of turns.get(sessionId) ?? []) yield { turn };
    },
  };

  return {
    asked,
    open: {
      agent: {
        async startSession() {
          const sessionId = randomUUID();
          const systemMessage = {
            id: 's',
            role: 'system' as const,
            content: 'Answer.',
            citations: [],
            tokenCount: 0,
            timestamp: NOW,
            metadata: {},
          };
          const start = { sessionId, createdAt: NOW, model, policy: 'tool' as const, collection: 'handbook' };
          sessions.set(sessionId, createSession({ ...start, systemMessage }));
          return open(sessionId);
        },
        resumeSession: async (id) => open(id),
        answer: async () => neverCreated(),
      },
      sessions: store as SessionStore,
      collection: 'handbook',
      model,
      assertFilter: async () => {},
      passagesAround: async () => [],
      close: async () => {},
    },
  };
}

function raised(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

function neverCreated(): never {
  throw new AppError('invalid_input', 'There is no such session.');
}

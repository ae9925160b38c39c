import { createOfflineModel } from '../../src/adapters/offline/offline-model.ts';
import { MINILM_DESCRIPTION } from '../../src/adapters/onnx/minilm-embedder.ts';
import { answerQuestion } from '../../src/agent/turn.ts';
import { TurnEvents } from '../../src/agent/turn-record.ts';
import { systemRuntime } from '../../src/app/system-runtime.ts';
import { createSourceRegister } from '../../src/citations/source-register.ts';
import { createWordChecker } from '../../src/citations/word-checker.ts';
import { saysNoInformation } from '../../src/domain/abstention.ts';
import { agentConfigSchema } from '../../src/domain/agent-config.ts';
import { type Citation, isPassedCitation } from '../../src/domain/citation.ts';
import { conversationMessageSchema } from '../../src/domain/conversation-message.ts';
import type { RetrievedChunk } from '../../src/domain/retrieved-chunk.ts';
import { OFFLINE_DEFAULTS } from '../../src/domain/setting-choices.ts';
import type { ChunkStore } from '../../src/ports/chunk-store.ts';
import type { Embedder } from '../../src/ports/embedder.ts';
import { createRetriever } from '../../src/retrieval/create-retriever.ts';
import { withWordReranker } from '../../src/retrieval/rerank.ts';

export interface HistoryMessage {
  role: 'user' | 'assistant';
  content: string;
}

export interface OfflineAnswer {
  answer: string;
  abstained: boolean;
  /** The search queries, in order. */
  queries: string[];
  chunks: RetrievedChunk[];
  citations: Citation[];
  /** The number of supported citations. */
  passed: number;
}

/** Creates a function that asks the offline agent one question after a given history. */
export function createOfflineAsker(store: ChunkStore, embedder: Embedder) {
  const config = agentConfigSchema.parse(OFFLINE_DEFAULTS);
  const dependencies = { store, embedder: async () => embedder };
  const { scoreThreshold } = MINILM_DESCRIPTION;
  const found = createRetriever({ ...dependencies, mode: 'hybrid', scoreThreshold });
  const retriever = withWordReranker(found, dependencies);
  const model = createOfflineModel({ newId: systemRuntime.newId });

  return async function ask(question: string, history: readonly HistoryMessage[]): Promise<OfflineAnswer> {
    const queries: string[] = [];
    const { turn } = await answerQuestion(
      {
        model,
        config,
        briefing: async () => ({ coverage: '', modules: [] }),
        window: { tokens: config.contextWindow },
        store,
        retriever,
        checker: createWordChecker({ store, embedder: null }),
        runtime: systemRuntime,
        tracing: false,
      },
      {
        question,
        history: history.slice(-config.maxHistory).map(({ role, content }, index) =>
          conversationMessageSchema.parse({
            id: String(index),
            role,
            content,
            timestamp: systemRuntime.now().toISOString(),
          }),
        ),
        policy: 'tool',
        filter: {},
        sources: createSourceRegister(),
        sessionId: systemRuntime.newId(),
        turnNumber: 1,
      },
      new TurnEvents((event) => {
        if (event.type === 'retrieval_started') queries.push(event.query);
      }),
    );
    const { answer, citations } = turn.response;
    return {
      answer,
      abstained: saysNoInformation(answer),
      queries,
      chunks: turn.retrievals.flatMap(({ chunks }) => chunks),
      citations,
      passed: citations.filter(isPassedCitation).length,
    };
  };
}

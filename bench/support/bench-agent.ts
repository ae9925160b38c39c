import { createOpenAiModel } from '../../src/adapters/openai/create-openai-model.ts';
import { createSqliteCatalog } from '../../src/adapters/sqlite/sqlite-catalog.ts';
import type { Agent, AgentSession } from '../../src/agent/agent.ts';
import { createConversationAgent } from '../../src/agent/create-agent.ts';
import { systemRuntime } from '../../src/app/system-runtime.ts';
import { createWordChecker } from '../../src/citations/word-checker.ts';
import { agentConfigSchema } from '../../src/domain/agent-config.ts';
import type { ChunkStore } from '../../src/ports/chunk-store.ts';
import type { CitationChecker } from '../../src/ports/citation-checker.ts';
import type { SessionStore } from '../../src/ports/session-store.ts';
import type { ModelServer } from './model-server.ts';
import { createInstantRetriever } from './sample-book.ts';

const MODEL = 'bench';

/** Creates the program's agent with a model server and a retriever that takes no time. */
export async function createBenchAgent(
  server: ModelServer,
  directory: string,
  sessions: SessionStore,
  createChecker: (store: ChunkStore) => CitationChecker = (store) =>
    createWordChecker({ store, embedder: null }),
): Promise<Agent & { close(): Promise<void> }> {
  const identity = { embedder: 'none', dimensions: 4 };
  const store = await createSqliteCatalog(directory).openOrCreate('bench', identity);
  const agent = createConversationAgent({
    config: agentConfigSchema.parse({ model: MODEL, maxTurns: Number.MAX_SAFE_INTEGER }),
    model: createOpenAiModel({
      model: MODEL,
      baseUrl: server.baseUrl,
      api: 'chat_completions',
      timeoutMs: 60_000,
    }),
    store,
    retriever: await createInstantRetriever(),
    sessions,
    runtime: systemRuntime,
    checker: createChecker(store),
  });
  return {
    ...agent,
    async close() {
      await sessions.close();
      await store.close();
    },
  };
}

/** Asks and waits for the end of the turn. Throws if the answer has no citations. */
export async function takeTurn(
  session: AgentSession,
  question: string,
  onFirstWord: () => void = () => {},
): Promise<void> {
  let words = 0;
  for await (const event of session.ask(question)) {
    if (event.type === 'text_delta' && words++ === 0) onFirstWord();
    if (event.type === 'error') throw new Error(event.error.message);
    if (event.type === 'turn_completed' && event.turn.response.citations.length === 0)
      throw new Error(`The answer has no citations: ${event.turn.response.answer}`);
  }
}

import { randomUUID } from 'node:crypto';
import type { Model } from '@openai/agents';
import { createMemorySessionStore } from '../../src/adapters/sqlite/sqlite-session-store.ts';
import type { Agent, AgentSession, AskOptions } from '../../src/agent/agent.ts';
import { createConversationAgent } from '../../src/agent/create-agent.ts';
import { createWordChecker } from '../../src/citations/word-checker.ts';
import { type AgentConfig, agentConfigSchema } from '../../src/domain/agent-config.ts';
import type { ConversationTurn } from '../../src/domain/conversation-turn.ts';
import type { RunEvent } from '../../src/domain/run-event.ts';
import type { Embedder } from '../../src/ports/embedder.ts';
import type { SessionStore } from '../../src/ports/session-store.ts';
import type { SmallLibrary } from './small-library.ts';

export interface TestAgentOptions {
  config?: Partial<AgentConfig>;
  sessions?: SessionStore;
  readSource?: boolean;
  /** Encodes the sentences that are checked. */
  embedder?: Embedder;
}

/** Creates the real agent over a small library, with the given model. */
export function createTestAgent(library: SmallLibrary, model: Model, options: TestAgentOptions = {}): Agent {
  const { embedder } = options;
  return createConversationAgent({
    config: agentConfigSchema.parse({
      model: 'scripted',
      readSource: options.readSource ?? false,
      ...options.config,
    }),
    model,
    store: library.store,
    retriever: library.retriever,
    sessions: options.sessions ?? createMemorySessionStore(),
    runtime: { now: () => new Date(), elapsedMs: () => performance.now(), newId: randomUUID },
    ...(embedder && {
      checker: createWordChecker({ store: library.store, embedder: async () => embedder }),
    }),
  });
}

/** Asks and waits for the end of the turn; `turn` is null if it failed. */
export async function askAndWait(
  session: AgentSession,
  question: string,
  options: AskOptions = {},
): Promise<{ events: RunEvent[]; turn: ConversationTurn | null }> {
  const events: RunEvent[] = [];
  for await (const event of session.ask(question, options)) events.push(event);
  const last = events.at(-1);
  return { events, turn: last?.type === 'turn_completed' ? last.turn : null };
}

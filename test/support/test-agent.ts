import { randomUUID } from 'node:crypto';
import type { Model } from '@openai/agents';
import { createMemorySessionStore } from '../../src/adapters/memory/memory-session-store.ts';
import type { Agent, AgentSession, AskOptions } from '../../src/agent/agent.ts';
import { createConversationAgent } from '../../src/agent/create-agent.ts';
import { type AgentConfig, agentConfigSchema } from '../../src/domain/agent-config.ts';
import type { ConversationTurn } from '../../src/domain/conversation-turn.ts';
import type { RunEvent } from '../../src/domain/run-event.ts';
import { createJudge } from '../../src/judge/answer-judge.ts';
import type { SessionStore } from '../../src/ports/session-store.ts';
import type { TokenEncoder } from '../../src/ports/token-encoder.ts';
import type { SmallLibrary } from './small-library.ts';

export interface TestAgentOptions {
  config?: Partial<AgentConfig>;
  sessions?: SessionStore;
  readSource?: boolean;
  /** Enables the answer judge, which encodes text with it. */
  encoder?: TokenEncoder;
}

/** Creates the real agent over a small library, with the given model. */
export function createTestAgent(library: SmallLibrary, model: Model, options: TestAgentOptions = {}): Agent {
  const { encoder } = options;
  const judge = encoder && createJudge(encoder);
  return createConversationAgent({
    config: agentConfigSchema.parse({ model: 'scripted', ...options.config }),
    model,
    store: library.store,
    retriever: library.retriever,
    sessions: options.sessions ?? createMemorySessionStore(),
    runtime: { now: () => new Date(), elapsedMs: () => performance.now(), newId: randomUUID },
    readSource: options.readSource ?? false,
    ...(judge && { findJudge: async () => judge }),
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

import type { AgentConfig } from '../../domain/agent-config.ts';
import type { ConversationMessage } from '../../domain/conversation-message.ts';
import { appendMessages, createSession } from '../../domain/conversation-session.ts';
import { estimateTokens } from '../../domain/estimate-tokens.ts';
import type { Runtime } from '../../ports/runtime.ts';
import type { SessionStore } from '../../ports/session-store.ts';
import type { HistoryMessage } from '../cases/evaluation-case.ts';

export interface SeedDependencies {
  config: Pick<AgentConfig, 'model' | 'policy' | 'systemPrompt'>;
  collection: string;
  sessions: SessionStore;
  runtime: Runtime;
}

/** Puts a conversation into the store as if it had been had, and returns the id to resume it by. */
export async function seedSession(
  history: readonly HistoryMessage[],
  { config, collection, sessions, runtime }: SeedDependencies,
): Promise<string> {
  const timestamp = runtime.now().toISOString();
  const common = (content: string) => ({
    id: runtime.newId(),
    content,
    citations: [],
    tokenCount: estimateTokens(content),
    timestamp,
    metadata: {},
  });
  const session = createSession({
    sessionId: runtime.newId(),
    createdAt: timestamp,
    model: config.model,
    policy: config.policy,
    collection,
    systemMessage: { ...common(config.systemPrompt), role: 'system' },
  });
  const messages = history.map(
    ({ role, content }): ConversationMessage =>
      role === 'user' ? { ...common(content), role } : { ...common(content), role, toolCalls: [] },
  );
  await sessions.create(appendMessages(session, messages, { retrievals: 0 }), null);
  return session.sessionId;
}

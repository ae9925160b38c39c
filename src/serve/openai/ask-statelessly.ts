import type { Agent, AskOptions } from '../../agent/agent.ts';
import { findMarkers } from '../../agent/citations/find-markers.ts';
import type { Policy } from '../../domain/agent-config.ts';
import type { ConversationMessage } from '../../domain/conversation-message.ts';
import { createSession } from '../../domain/conversation-session.ts';
import type { RunEvent } from '../../domain/run-event.ts';
import type { Runtime } from '../../ports/runtime.ts';
import type { SessionStore } from '../../ports/session-store.ts';

export interface PassingAgent {
  agent: Agent;
  /** Where its sessions are kept while they last. */
  sessions: SessionStore;
  collection: string;
  /** Where none is asked for. */
  policy: Policy;
  runtime: Runtime;
}

/** Asks the last question of a conversation that the caller keeps. Nothing of it stays here. */
export async function* askStatelessly(
  { agent, sessions, collection, policy, runtime }: PassingAgent,
  { question, history }: { question: string; history: readonly ConversationMessage[] },
  options: AskOptions,
): AsyncGenerator<RunEvent> {
  const timestamp = runtime.now().toISOString();
  const session = createSession({
    sessionId: runtime.newId(),
    createdAt: timestamp,
    model: 'unknown',
    policy,
    collection,
    systemMessage: {
      id: runtime.newId(),
      role: 'system',
      content: '',
      citations: [],
      tokenCount: 0,
      timestamp,
      metadata: {},
    },
  });
  const messages = [...session.messages, ...history.map(withoutMarkers)];
  await sessions.create({ ...session, messages }, null);
  try {
    const resumed = await agent.resumeSession(session.sessionId);
    yield* resumed.ask(question, options);
  } finally {
    await sessions.delete(session.sessionId);
  }
}

/** What an earlier answer pointed at is not known any more, and its numbers now stand for other sources. */
function withoutMarkers(message: ConversationMessage): ConversationMessage {
  if (message.role !== 'assistant' || message.content === null) return message;
  let content = '';
  let end = 0;
  for (const marker of findMarkers(message.content)) {
    if (marker.label !== null || marker.references.some(({ url }) => url !== null)) continue;
    content += message.content.slice(end, marker.start).trimEnd();
    end = marker.end;
  }
  return { ...message, content: content + message.content.slice(end) };
}

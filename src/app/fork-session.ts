import type { ConversationMessage, SystemMessage } from '../domain/conversation-message.ts';
import {
  appendMessages,
  createSession,
  sessionTotals,
  unknownSession,
} from '../domain/conversation-session.ts';
import type { ConversationTurn } from '../domain/conversation-turn.ts';
import { AppError } from '../faults/app-error.ts';
import type { Runtime } from '../ports/runtime.ts';
import type { SessionStore } from '../ports/session-store.ts';

export interface ForkedSession {
  sessionId: string;
  collection: string;
  /** The turns that were left behind, from the one that it was forked at: what is asked again. */
  left: ConversationTurn[];
}

/**
 * A new session that shares the turns before one of another, which stays as it is. Only what a session has held since
 * it was last reset can be shared. Throws `invalid_input`.
 */
export async function forkSession(
  sessions: SessionStore,
  { sessionId, turn: at }: { sessionId: string; turn: number },
  runtime: Pick<Runtime, 'newId' | 'now'>,
): Promise<ForkedSession> {
  const found = await sessions.load(sessionId);
  if (found === null) throw unknownSession(sessionId);
  const { session, user } = found;
  const turns: ConversationTurn[] = [];
  for await (const { turn } of sessions.turns(sessionId)) turns.push(turn);
  const { turnCount } = sessionTotals(session);
  const first = turnCount - session.turnCount + 1;
  if (at < first || at > turnCount) {
    throw new AppError(
      'invalid_input',
      `The session ${sessionId.slice(0, 8)} cannot be forked at turn ${at}.`,
      {
        hint:
          session.turnCount === 0
            ? 'Nothing has been asked in it since it was reset.'
            : `It has the turns ${first} to ${turnCount}.`,
      },
    );
  }
  const [system, ...messages] = session.messages;
  const byTurn = splitByQuestion(messages);
  const forkedId = runtime.newId();
  const { model, policy, collection, isInteractive } = session;
  let fork = createSession({
    sessionId: forkedId,
    createdAt: runtime.now().toISOString(),
    model,
    policy,
    collection,
    isInteractive,
    // The schema of a session has it first.
    systemMessage: system as SystemMessage,
  });
  await sessions.create(fork, user);
  for (const [index, shared] of turns.slice(first - 1, at - 1).entries()) {
    const own = (byTurn[index] ?? []).map((message) => ({ ...message, id: runtime.newId() }));
    const response = { ...shared.response, sessionId: forkedId, turnNumber: index + 1 };
    const usage = { retrievals: response.retrievalCount, tokens: response.tokensUsed.total };
    fork = appendMessages(fork, own, usage);
    await sessions.commitTurn(fork, own, { ...shared, turnId: runtime.newId(), response });
  }
  return { sessionId: forkedId, collection, left: turns.slice(at - 1) };
}

function splitByQuestion(messages: readonly ConversationMessage[]): ConversationMessage[][] {
  const turns: ConversationMessage[][] = [];
  for (const message of messages) {
    if (message.role === 'user') turns.push([]);
    turns.at(-1)?.push(message);
  }
  return turns;
}

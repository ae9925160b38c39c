import { sessionTitle, sessionTotals } from '../domain/conversation-session.ts';
import type { RecordedTurn, SessionStore, SessionSummary } from '../ports/session-store.ts';
import type { RunOutputs } from './run-outputs.ts';

/** The given sessions, among which the one that the recorded run went on with is as it was before. */
export function createReplaySessions(memory: SessionStore, resumed: RunOutputs['resumed']): SessionStore {
  if (resumed === null) return memory;
  const { user } = resumed;
  const turns: RecordedTurn[] = resumed.turns.map((turn) => ({ turn, feedback: null }));
  let { session } = resumed;
  const isIt = (sessionId: string) => sessionId === resumed.session.sessionId;

  function summary(): SessionSummary {
    const { sessionId, status, isInteractive, model, policy, collection, createdAt } = session;
    const [first] = turns;
    return {
      sessionId,
      user,
      title: first === undefined ? null : sessionTitle(first.turn.userQuery),
      status,
      isInteractive,
      model,
      policy,
      collection,
      createdAt,
      updatedAt: createdAt,
      ...sessionTotals(session),
    };
  }

  return {
    ...memory,
    load: async (id) => (isIt(id) ? { session: structuredClone(session), user } : memory.load(id)),
    async commitTurn(after, messages, turn, begun) {
      if (!isIt(after.sessionId)) return memory.commitTurn(after, messages, turn, begun);
      session = after;
      turns.push({ turn, feedback: null });
    },
    async update(after) {
      if (!isIt(after.sessionId)) return memory.update(after);
      session = after;
    },
    async *turns(id) {
      yield* isIt(id) ? turns : memory.turns(id);
    },
    lastTurn: async (id) => (isIt(id) ? (turns.at(-1) ?? null) : memory.lastTurn(id)),
    list: async (options) => [summary(), ...(await memory.list(options))],
  };
}

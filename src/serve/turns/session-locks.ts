import { RequestFault } from '../wire/request-fault.ts';

/** One turn at a time in a session. */
export interface SessionLocks {
  /** What gives the session free again; a 409 while somebody else has it. May be called more than once. */
  take(sessionId: string): () => void;
}

export function createSessionLocks(): SessionLocks {
  const taken = new Set<string>();
  return {
    take(sessionId) {
      if (taken.has(sessionId)) {
        throw new RequestFault(409, 'Another question of this session is being answered.', {
          code: 'session_busy',
          retryAfter: 1,
        });
      }
      taken.add(sessionId);
      let held = true;
      return () => {
        if (held) taken.delete(sessionId);
        held = false;
      };
    },
  };
}

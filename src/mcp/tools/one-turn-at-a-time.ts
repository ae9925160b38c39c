/** Runs work for the same session in the order in which it came, so that no turn overtakes another. */
export function createOneTurnAtATime(): <T>(sessionId: string, work: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>();
  return async (sessionId, work) => {
    const turn = (last.get(sessionId) ?? Promise.resolve()).then(work);
    const over = turn.catch(() => {});
    last.set(sessionId, over);
    try {
      return await turn;
    } finally {
      if (last.get(sessionId) === over) last.delete(sessionId);
    }
  };
}

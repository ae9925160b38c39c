/** What was asked of another thread and is not answered yet. */
export interface Pending<Answer> {
  /** A number to ask under, and what will come of it. */
  add(): { id: number; answer: Promise<Answer> };
  /** Takes the answer that came for a number. */
  resolve(id: number, answer: Answer): void;
  reject(id: number, error: unknown): void;
  /** Nothing will be answered any more. */
  rejectAll(error: unknown): void;
}

export function createPending<Answer>(): Pending<Answer> {
  const waiting = new Map<number, PromiseWithResolvers<Answer>>();
  let next = 0;

  function take(id: number): PromiseWithResolvers<Answer> | undefined {
    const found = waiting.get(id);
    waiting.delete(id);
    return found;
  }

  return {
    add() {
      const id = next++;
      const asked = Promise.withResolvers<Answer>();
      waiting.set(id, asked);
      return { id, answer: asked.promise };
    },
    resolve: (id, answer) => take(id)?.resolve(answer),
    reject: (id, error) => take(id)?.reject(error),
    rejectAll(error) {
      for (const id of [...waiting.keys()]) take(id)?.reject(error);
    },
  };
}

/** Time for the page to be drawn and for a person to type. */
const PAUSE_MS = 40;

/**
 * What comes in within a moment, together: an answer arrives word by word, and to draw a long one for every word
 * would take longer than the word. The first of it is never held back.
 */
export async function* inBatches<T>(items: AsyncIterable<T>): AsyncGenerator<T[]> {
  let batch: T[] = [];
  let ended = false;
  let failure: { error: unknown } | null = null;
  let arrived = Promise.withResolvers<void>();
  const reading = (async () => {
    try {
      for await (const item of items) {
        batch.push(item);
        arrived.resolve();
      }
    } catch (error) {
      failure = { error };
    } finally {
      ended = true;
      arrived.resolve();
    }
  })();
  while (true) {
    await arrived.promise;
    arrived = Promise.withResolvers();
    if (ended) arrived.resolve();
    const taken = batch;
    batch = [];
    if (taken.length > 0) yield taken;
    else if (ended) break;
    if (!ended) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  await reading;
  if (failure !== null) throw (failure as { error: unknown }).error;
}

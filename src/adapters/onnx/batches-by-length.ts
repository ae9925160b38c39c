/** Padded tokens a batch. Larger ones fall out of the processor's cache and are slower, not faster. */
const BATCH_TOKENS = 1024;

/** Groups inputs of like length, so that next to no padding is computed. Yields their indices, longest first. */
export function* batchesByLength(
  lengths: readonly number[],
  batchTokens = BATCH_TOKENS,
): Generator<number[]> {
  const byLength = lengths.map((_, index) => index);
  byLength.sort((a, b) => (lengths[b] ?? 0) - (lengths[a] ?? 0));
  let batch: number[] = [];
  let width = 0;
  for (const index of byLength) {
    if (batch.length > 0 && (batch.length + 1) * width > batchTokens) {
      yield batch;
      batch = [];
    }
    if (batch.length === 0) width = lengths[index] ?? 0;
    batch.push(index);
  }
  if (batch.length > 0) yield batch;
}

import type { RawDocument } from '../domain/document.ts';
import type { SourceEntry } from '../ports/loader.ts';

/** Small files are read faster than one at a time; large ones must not pile up in memory. */
const READ_AHEAD = 8;

export interface ReadEntry {
  entry: SourceEntry;
  /** Rejects if the document cannot be read. */
  raw: Promise<RawDocument>;
}

/** Entries in their order, with the next few being read already. */
export async function* readAhead(
  entries: AsyncIterable<SourceEntry>,
  signal: AbortSignal | undefined,
): AsyncGenerator<ReadEntry> {
  const started: ReadEntry[] = [];
  for await (const entry of entries) {
    const raw = entry.read(signal);
    // Whoever takes the entry hears of it; until then it is not an unhandled rejection.
    raw.catch(() => {});
    started.push({ entry, raw });
    if (started.length >= READ_AHEAD) yield started.shift() as ReadEntry;
  }
  yield* started;
}

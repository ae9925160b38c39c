import { matchKey } from './match-key.ts';
import type { TapeExchange } from './tape-format.ts';

/** Where an exchange stands in its file. */
export interface TapeEntry {
  id: number;
  offset: number;
  length: number;
}

export interface TapeIndex {
  readonly count: number;
  add(exchange: TapeExchange, entry: TapeEntry): void;
  /** To be called once all are there: puts them in the order in which the requests were made. */
  settle(): void;
  entries(): readonly TapeEntry[];
  /** What was answered to such a request, in order. Takes the same time however long the tape is. */
  find(exact: string): readonly TapeEntry[];
  /** The same for requests that differ in the numbers of their embeddings alone. */
  findNearly(nearly: string): readonly TapeEntry[];
}

const NONE: readonly TapeEntry[] = [];

export function createTapeIndex(): TapeIndex {
  const entries: TapeEntry[] = [];
  const exactly = new Map<string, TapeEntry[]>();
  const nearly = new Map<string, TapeEntry[]>();

  return {
    get count() {
      return entries.length;
    },
    add({ request }, entry) {
      const key = matchKey(request);
      entries.push(entry);
      push(exactly, key.exact, entry);
      if (key.nearly !== null) push(nearly, key.nearly, entry);
    },
    settle() {
      for (const list of [entries, ...exactly.values(), ...nearly.values()]) list.sort((a, b) => a.id - b.id);
    },
    entries: () => entries,
    find: (key) => exactly.get(key) ?? NONE,
    findNearly: (key) => nearly.get(key) ?? NONE,
  };
}

function push(map: Map<string, TapeEntry[]>, key: string, entry: TapeEntry): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [entry]);
  else list.push(entry);
}

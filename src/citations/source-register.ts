import type { RetrievedChunk } from '../domain/retrieved-chunk.ts';
import { publicAddress } from '../domain/source-address.ts';

export interface RegisteredSource {
  /** The number that the model writes in brackets: "1", "2", ... */
  ref: string;
  chunk: RetrievedChunk;
}

/** The sources that were retrieved in a session. Only these can be cited. */
export interface SourceRegister {
  /** Returns the ref of a chunk, which stays the same for the session. A newer version replaces the older one. */
  register(chunk: RetrievedChunk): string;
  chunkOf(ref: string): RetrievedChunk | undefined;
  /**
   * The sources with a ref, an address or a title ("Title > Heading" too), in the order of their refs. A document has
   * many chunks, so there may be several.
   */
  find(reference: string): RegisteredSource[];
  /** The newest ref, or 0. */
  lastRef(): number;
  /** All sources in the order of their refs; `createSourceRegister` accepts them to resume a session. */
  entries(): RegisteredSource[];
}

const REF = /^(?:(?:ref|source)\s*)?[#:^]?\s*(\d{1,9})$/i;
const LONGEST_REFERENCE = 1000;

export function createSourceRegister(stored: Iterable<RegisteredSource> = []): SourceRegister {
  const sources = new Map<string, RegisteredSource>();
  const refs = new Map<string, string>();
  /** The sources by their keys; null after a change. */
  let index: Map<string, RegisteredSource[]> | null = null;
  let last = 0;

  function put(ref: string, chunk: RetrievedChunk): void {
    sources.set(ref, { ref, chunk });
    refs.set(chunk.chunkId, ref);
    last = Math.max(last, Number(ref) || 0);
    index = null;
  }

  const entries = () => [...sources.values()].sort((a, b) => Number(a.ref) - Number(b.ref));

  for (const { ref, chunk } of stored) put(ref, chunk);

  return {
    register(chunk) {
      const ref = refs.get(chunk.chunkId) ?? String(last + 1);
      if (sources.get(ref)?.chunk !== chunk) put(ref, chunk);
      return ref;
    },
    chunkOf: (ref) => sources.get(ref)?.chunk,
    find(reference) {
      const text = reference.trim();
      if (text === '' || text.length > LONGEST_REFERENCE) return [];
      const numbered = sources.get(String(Number(REF.exec(text)?.[1])));
      if (numbered !== undefined) return [numbered];
      index ??= createIndex(entries());
      return index.get(toUrlKey(text)) ?? index.get(toTitleKey(text)) ?? [];
    },
    lastRef: () => last,
    entries,
  };
}

function createIndex(sources: readonly RegisteredSource[]): Map<string, RegisteredSource[]> {
  const keyed = sources.flatMap((source) => [...keysOf(source.chunk)].map((key) => ({ key, source })));
  const byKey = Map.groupBy(keyed, ({ key }) => key);
  return new Map([...byKey].map(([key, found]) => [key, found.map(({ source }) => source)]));
}

function keysOf(chunk: RetrievedChunk): Set<string> {
  const { title, headings, url } = chunk;
  // The first heading of a page usually repeats its title.
  const titles = [title, [...new Set([title, ...headings])].join(' ')].map(toTitleKey);
  return new Set([toUrlKey(url), toUrlKey(publicAddress(chunk)), ...titles].filter((key) => key.length > 2));
}

/** A title for comparison: its words in lower case, without accents and punctuation. */
function toTitleKey(title: string): string {
  const words = title
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu);
  return `t ${words?.join(' ') ?? ''}`;
}

/** An address for comparison: decoded, with the host in lower case, without fragment, last slash and punctuation around it. */
function toUrlKey(url: string): string {
  let key = url.replace(/^[\s<"'“”]+|[\s>"'“”.,;:!?*]+$/g, '');
  try {
    key = decodeURIComponent(key);
  } catch {
    // Compared as written.
  }
  const page = key.replace(/(?!^)\/*(?:#[\s\S]*)?$/, '');
  return `u ${page.replace(/^[\s\S]*?:\/\/[^/?#]*/, (start) => start.toLowerCase())}`;
}

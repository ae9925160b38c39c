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
   * The sources that a ref, an address or a title ("Title > Heading" too) may refer to, in the order of their refs. A
   * document has many chunks, so there may be several.
   */
  find(reference: string): RegisteredSource[];
  /** The newest ref, or 0. */
  lastRef(): number;
  /** All sources in the order of their refs; `createSourceRegister` accepts them to resume a session. */
  entries(): RegisteredSource[];
}

const REF = /^(?:(?:ref|reference|source|doc|document|result|chunk)\s*)?[#:^]?\s*(\d{1,9})$/i;
/** Shorter references would match parts of too many titles. */
const SHORTEST_PART = 4;
const LONGEST_REFERENCE = 1000;

export function createSourceRegister(stored: Iterable<RegisteredSource> = []): SourceRegister {
  const sources = new Map<string, RegisteredSource>();
  const refs = new Map<string, string>();
  /** The refs by normalized address or title. */
  const index: Record<KeyKind, Map<string, Set<string>>> = {
    url: new Map(),
    page: new Map(),
    title: new Map(),
    path: new Map(),
  };
  let last = 0;

  function put(ref: string, chunk: RetrievedChunk): void {
    const former = sources.get(ref)?.chunk;
    for (const [kind, key] of former === undefined ? [] : keysOf(former)) {
      const known = index[kind].get(key);
      known?.delete(ref);
      if (known?.size === 0) index[kind].delete(key);
    }
    sources.set(ref, { ref, chunk });
    refs.set(chunk.chunkId, ref);
    for (const [kind, key] of keysOf(chunk))
      index[kind].set(key, (index[kind].get(key) ?? new Set()).add(ref));
    last = Math.max(last, Number(ref) || 0);
  }

  function findByTitle(reference: string): Set<string> | undefined {
    const key = toTitleKey(reference);
    if (key === '') return undefined;
    const exact = index.path.get(key) ?? index.title.get(key);
    if (exact !== undefined) return exact;
    const [title = '', ...headings] = splitTitle(reference);
    const ofTitle = headings.length > 0 ? index.title.get(title) : undefined;
    if (ofTitle !== undefined) return narrowByHeading(ofTitle, headings.at(-1) ?? '');
    if (key.length < SHORTEST_PART) return undefined;
    return findByPart(key, index.title) ?? findByPart(key, index.path);
  }

  /** The candidates below a heading, or all of them if none is. */
  function narrowByHeading(candidates: Set<string>, heading: string): Set<string> {
    const isBelow = (ref: string) =>
      sources.get(ref)?.chunk.headings.some((name) => toTitleKey(name) === heading) === true;
    const below = new Set([...candidates].filter(isBelow));
    return below.size > 0 ? below : candidates;
  }

  function find(reference: string): Iterable<string> | undefined {
    const text = reference.trim();
    if (text === '' || text.length > LONGEST_REFERENCE) return undefined;
    const ref = String(Number(REF.exec(text)?.[1]));
    if (sources.has(ref)) return [ref];
    return index.url.get(toUrlKey(text)) ?? index.page.get(toPageKey(text)) ?? findByTitle(text);
  }

  const toSources = (found: Iterable<string> = []) =>
    Array.from(found, (ref) => sources.get(ref))
      .filter((source) => source !== undefined)
      .sort((a, b) => Number(a.ref) - Number(b.ref));

  for (const { ref, chunk } of stored) put(ref, chunk);

  return {
    register(chunk) {
      const ref = refs.get(chunk.chunkId) ?? String(last + 1);
      if (sources.get(ref)?.chunk !== chunk) put(ref, chunk);
      return ref;
    },
    chunkOf: (ref) => sources.get(ref)?.chunk,
    find: (reference) => toSources(find(reference)),
    lastRef: () => last,
    entries: () => toSources(sources.keys()),
  };
}

type KeyKind = 'url' | 'page' | 'title' | 'path';

function keysOf(chunk: RetrievedChunk): [KeyKind, string][] {
  const addresses = [...new Set([chunk.url, publicAddress(chunk)])];
  const title = toTitleKey(chunk.title);
  const headings = chunk.headings.map(toTitleKey);
  const keys: [KeyKind, string][] = [
    ...addresses.map((address): [KeyKind, string] => ['url', toUrlKey(address)]),
    ...addresses.map((address): [KeyKind, string] => ['page', toPageKey(address)]),
    ['title', title],
    ['path', [title, ...headings].join(' ')],
  ];
  // The first heading of a page usually repeats its title.
  if (headings[0] === title) keys.push(['path', headings.join(' ')]);
  return keys;
}

/** The refs of the only key that starts with a text, or else contains its words. */
function findByPart(part: string, refsByKey: ReadonlyMap<string, Set<string>>): Set<string> | undefined {
  const startsWith = (key: string) => key.startsWith(part);
  const contains = (key: string) => ` ${key} `.includes(` ${part} `);
  for (const matches of [startsWith, contains]) {
    const [only, ...others] = [...refsByKey.keys()].filter(matches);
    if (only !== undefined && others.length === 0) return refsByKey.get(only);
  }
  return undefined;
}

/** A title for comparison: its words in lower case, without accents and punctuation. */
export function toTitleKey(title: string): string {
  return title
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

/** The parts of "Title > Heading > Heading" with any separator. */
function splitTitle(reference: string): string[] {
  return reference
    .split(/\s[-–—]\s|[>›»|→]/u)
    .map(toTitleKey)
    .filter((part) => part !== '');
}

/** An address for comparison: decoded, without a trailing slash and without the punctuation around it. */
function toUrlKey(url: string): string {
  return trimSlashes(lowerCaseHost(decodeAddress(trimPunctuation(url))));
}

/** The same for the page of an address, without its fragment. */
function toPageKey(url: string): string {
  const key = toUrlKey(url);
  const fragment = key.indexOf('#');
  return fragment <= 0 ? key : trimSlashes(key.slice(0, fragment));
}

function trimPunctuation(url: string): string {
  return url.replace(/^[\s<"'“”]+|[\s>"'“”.,;:!?*]+$/g, '');
}

/** Citations are printed with encoded parentheses and brackets. */
function decodeAddress(url: string): string {
  try {
    return decodeURIComponent(url);
  } catch {
    return url;
  }
}

function lowerCaseHost(url: string): string {
  return url.replace(/^[\s\S]*?:\/\/[^/?#]*/, (start) => start.toLowerCase());
}

function trimSlashes(url: string): string {
  return url.replace(/(?!^)\/+$/, '');
}

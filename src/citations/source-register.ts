import { placeOf } from '../domain/place.ts';
import type { RetrievedChunk } from '../domain/retrieved-chunk.ts';

export interface RegisteredSource {
  /** What the model writes in brackets: "1", "2", ... */
  ref: string;
  chunk: RetrievedChunk;
}

/** The sources that were retrieved in a session. Whatever is not in here cannot be cited. */
export interface SourceRegister {
  /** The ref of a chunk, the same for the whole session. A chunk that comes back replaces its older state. */
  register(chunk: RetrievedChunk): string;
  chunkOf(ref: string): RetrievedChunk | undefined;
  /**
   * What a model may have meant by a ref, an address or a title ("Title > Heading" too). One document has
   * many chunks, so there may be several candidates, in the order of their refs; none if it is unknown.
   */
  find(reference: string): RegisteredSource[];
  /** The newest ref; 0 before there is any. */
  lastRef(): number;
  /** All of them in the order of their refs, to be stored and given to `createSourceRegister` on resume. */
  entries(): RegisteredSource[];
}

const REF = /^(?:(?:ref|reference|source|doc|document|result|chunk)\s*)?[#:^]?\s*(\d{1,9})$/i;
/** Shorter references would match a part of too many titles. */
const SHORTEST_PART = 4;
const LONGEST_REFERENCE = 1000;

export function createSourceRegister(stored: Iterable<RegisteredSource> = []): SourceRegister {
  const sources = new Map<string, RegisteredSource>();
  const refs = new Map<string, string>();
  const byUrl = createIndex();
  const byPage = createIndex();
  const byTitle = createIndex();
  const byPlace = createIndex();
  let last = 0;

  function put(ref: string, chunk: RetrievedChunk): void {
    const former = sources.get(ref)?.chunk;
    if (former !== undefined) place(former, (index, key) => index.remove(key, ref));
    sources.set(ref, { ref, chunk });
    refs.set(chunk.chunkId, ref);
    place(chunk, (index, key) => index.add(key, ref));
    last = Math.max(last, Number(ref) || 0);
  }

  function place(chunk: RetrievedChunk, apply: (index: Index, key: string) => void): void {
    for (const address of new Set([chunk.url, placeOf(chunk)])) {
      apply(byUrl, urlKey(address));
      apply(byPage, pageKey(address));
    }
    const title = titleKey(chunk.title);
    apply(byTitle, title);
    const headings = chunk.headings.map(titleKey);
    apply(byPlace, [title, ...headings].join(' '));
    // The first heading of a page usually repeats its title.
    if (headings[0] === title) apply(byPlace, headings.join(' '));
  }

  function sourcesOf(found: Iterable<string> | undefined): RegisteredSource[] {
    if (found === undefined) return [];
    const list = Array.from(found, (ref) => sources.get(ref)).filter((source) => source !== undefined);
    return list.sort((a, b) => Number(a.ref) - Number(b.ref));
  }

  function findByRef(reference: string): RegisteredSource[] {
    const number = REF.exec(reference)?.[1];
    return number === undefined ? [] : sourcesOf([String(Number(number))]);
  }

  function findByTitle(reference: string): RegisteredSource[] {
    const key = titleKey(reference);
    if (key === '') return [];
    const exact = byPlace.get(key) ?? byTitle.get(key);
    if (exact !== undefined) return sourcesOf(exact);
    const [title = '', ...headings] = titleParts(reference);
    const ofTitle = headings.length > 0 ? sourcesOf(byTitle.get(title)) : [];
    if (ofTitle.length > 0) return narrowed(ofTitle, headings.at(-1) ?? '');
    if (key.length < SHORTEST_PART) return [];
    return sourcesOf(byTitle.getUniquePart(key) ?? byPlace.getUniquePart(key));
  }

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
      const byRef = findByRef(text);
      if (byRef.length > 0) return byRef;
      const byAddress = byUrl.get(urlKey(text)) ?? byPage.get(pageKey(text));
      return byAddress === undefined ? findByTitle(text) : sourcesOf(byAddress);
    },
    lastRef: () => last,
    entries: () => sourcesOf(sources.keys()),
  };
}

/** The candidates below a heading, or all of them if none is. */
function narrowed(candidates: RegisteredSource[], heading: string): RegisteredSource[] {
  const below = candidates.filter(({ chunk }) => chunk.headings.some((name) => titleKey(name) === heading));
  return below.length > 0 ? below : candidates;
}

type Index = ReturnType<typeof createIndex>;

/** The refs under each key. Keys hold words with one space between them, and no line feed. */
function createIndex() {
  const refs = new Map<string, Set<string>>();
  // Every key on a line of its own, so that a search for a part is one pass of the engine's own search.
  let lines: string | null = null;

  function linesOfKeys(): string {
    lines ??= `\n${Array.from(refs.keys(), (key) => ` ${key} `).join('\n')}\n`;
    return lines;
  }

  return {
    get: (key: string): ReadonlySet<string> | undefined => refs.get(key),
    add(key: string, ref: string): void {
      const known = refs.get(key);
      if (known !== undefined) {
        known.add(ref);
        return;
      }
      refs.set(key, new Set([ref]));
      lines = null;
    },
    remove(key: string, ref: string): void {
      const known = refs.get(key);
      known?.delete(ref);
      if (known?.size !== 0) return;
      refs.delete(key);
      lines = null;
    },
    /** The refs of the one key that begins with a text, or else holds its words. */
    getUniquePart(part: string): ReadonlySet<string> | undefined {
      const key = onlyLineWith(linesOfKeys(), `\n ${part}`) ?? onlyLineWith(linesOfKeys(), ` ${part} `);
      return key === undefined ? undefined : refs.get(key);
    },
  };
}

function onlyLineWith(lines: string, part: string): string | undefined {
  const at = lines.indexOf(part);
  if (at < 0) return undefined;
  const start = lines.lastIndexOf('\n', at + (part.startsWith('\n') ? 0 : 1)) + 1;
  const end = lines.indexOf('\n', start);
  if (lines.indexOf(part, end) >= 0) return undefined;
  return lines.slice(start, end).trim();
}

/** A title for comparing: its words in lower case, without accents and punctuation, one space apart. */
export function titleKey(title: string): string {
  return title
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

/** The parts of "Title > Heading > Heading", however they are separated. */
function titleParts(reference: string): string[] {
  return reference
    .split(/\s[-–—]\s|[>›»|→]/u)
    .map(titleKey)
    .filter((part) => part !== '');
}

/** An address for comparing: decoded, without a trailing slash or the punctuation of the sentence around it. */
function urlKey(url: string): string {
  return withoutTrailingSlashes(lowerCaseHost(decoded(trimmedUrl(url))));
}

/** The same page, whatever the place on it. */
function pageKey(url: string): string {
  const key = urlKey(url);
  const fragment = key.indexOf('#');
  return fragment <= 0 ? key : withoutTrailingSlashes(key.slice(0, fragment));
}

function trimmedUrl(url: string): string {
  let start = 0;
  let end = url.length;
  while (start < end && /[\s<"'“”]/.test(url.charAt(start))) start += 1;
  while (end > start && /[\s>"'“”.,;:!?*]/.test(url.charAt(end - 1))) end -= 1;
  return url.slice(start, end);
}

/** A citation is printed with its parentheses and brackets encoded. */
function decoded(url: string): string {
  try {
    return decodeURIComponent(url);
  } catch {
    return url;
  }
}

function lowerCaseHost(url: string): string {
  const scheme = url.indexOf('://');
  if (scheme < 0) return url;
  const path = url.slice(scheme + 3).search(/[/?#]/);
  const end = path < 0 ? url.length : scheme + 3 + path;
  return url.slice(0, end).toLowerCase() + url.slice(end);
}

function withoutTrailingSlashes(url: string): string {
  let end = url.length;
  while (end > 1 && url.charAt(end - 1) === '/') end -= 1;
  return url.slice(0, end);
}

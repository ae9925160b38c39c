import { checkClaimByWords, VERDICT_RANK } from '../judge/claim-verdict.ts';
import type { Range } from '../text/markdown-blocks.ts';
import { type CitationMarker, findMarkers, type KnownSources } from './find-markers.ts';
import { looksLikeAddress, type SourceReference } from './marker-syntax.ts';
import { type ResolvedMarker, rewriteMarkers } from './rewrite-markers.ts';
import type { RegisteredSource, SourceRegister } from './source-register.ts';
import { toTitleKey } from './source-register.ts';
import { findLinkDefinitions, findSourcesSection } from './sources-section.ts';
import { type AnswerClaim, splitClaims } from './split-claims.ts';

/** Removing a marker can create another one, as in `[[9]9]`. Ordinary answers need two passes. */
const MAX_PASSES = 8;
/** Word checks per answer to choose between the chunks of a document; afterwards the first chunk is taken. */
const MAX_WORD_CHECKS = 2000;
const MAX_CANDIDATES = 64;

export interface CleanedAnswer {
  text: string;
  /** References of the answer to sources that were not retrieved, as written. */
  unknown: Set<string>;
  markers: CitationMarker[];
  claims: AnswerClaim[];
}

/** Rewrites an answer so that its only markers are `[n]` of known sources. Idempotent. */
export function cleanAnswer(answer: string, register: SourceRegister): CleanedAnswer {
  const unknown = new Set<string>();
  const cleaner = createCleaner(register, unknown);
  let text = answer;
  for (let pass = 0; pass < MAX_PASSES; pass += 1) {
    const { cleaned, markers, claims } = cleaner.cleanOnce(text);
    if (cleaned === text) return { text, unknown, markers, claims };
    text = cleaned;
  }
  text = removeMarkerCharacters(text);
  return { text, unknown, markers: [], claims: splitClaims(text, []) };
}

/** For adversarial text: removes every character that a marker can consist of. */
function removeMarkerCharacters(text: string): string {
  return text.replace(/[[\]()【】<>`~:]/g, '').replace(/www\./gi, 'www ');
}

function createCleaner(register: SourceRegister, unknown: Set<string>) {
  const findSources = memoizeFind(register);
  const hosts = new Set(register.entries().map(({ chunk }) => hostOf(chunk.url)));
  const known: KnownSources = {
    knows: (reference) => findSources(reference).length > 0,
    isTitle: (text) => findSources(text).some(({ chunk }) => toTitleKey(chunk.title) === toTitleKey(text)),
    isExternal: (url) => findSources(url).length === 0 && isExternalLink(url, hosts),
  };
  let checksLeft = MAX_WORD_CHECKS;

  function cleanOnce(text: string): { cleaned: string; markers: CitationMarker[]; claims: AnswerClaim[] } {
    const withoutDefinitions = removeDefinitions(text);
    const found = findMarkers(withoutDefinitions, known);
    const start = findSourcesSection(withoutDefinitions, found, known.knows);
    const body =
      start < withoutDefinitions.length
        ? removeLastRule(withoutDefinitions.slice(0, start).trimEnd())
        : withoutDefinitions;
    const inBody = found.filter(({ end }) => end <= body.length);
    const listed = found.slice(inBody.length).flatMap(({ references }) => references);
    const markers = inBody.map((marker) => (marker.external ? { ...marker, references: [] } : marker));
    const citing = markers.filter(({ external }) => external !== true);
    for (const reference of listed) if (candidatesOf(reference).length === 0) unknown.add(reference.name);
    const claims = splitClaims(body, markers);
    const cleaned =
      citing.length === 0 ? citeListedSources(body, claims, listed) : rewriteCitations(body, citing, claims);
    return { cleaned, markers, claims };
  }

  function rewriteCitations(
    body: string,
    markers: readonly CitationMarker[],
    claims: readonly AnswerClaim[],
  ): string {
    const claimOf = new Map(
      claims.flatMap((claim) => claim.markers.map((marker) => [marker, claim] as const)),
    );
    return rewriteMarkers(
      body,
      markers.map((marker) => resolve(marker, claimOf.get(marker))),
    );
  }

  function resolve(marker: CitationMarker, claim: AnswerClaim | undefined): ResolvedMarker {
    const refs: string[] = [];
    for (const reference of marker.references) {
      const [first, ...others] = candidatesOf(reference);
      if (first === undefined) unknown.add(reference.name);
      else refs.push(chooseSource(first, others, claim).ref);
    }
    return { marker, refs };
  }

  /** An address decides, unless it is relative and the name is the title of a source. */
  function candidatesOf({ name, url }: SourceReference): RegisteredSource[] {
    if (url === null) return findSources(name);
    const byUrl = /^\d+$/.test(url.trim()) ? [] : findSources(url);
    const byName = findSources(name);
    if (byUrl.length === 0) return isAbsoluteAddress(url) ? [] : known.isTitle(name) ? byName : [];
    const both = byUrl.filter(({ ref }) => byName.some((other) => other.ref === ref));
    return both.length > 0 ? both : byUrl;
  }

  /** The chunk of a document that supports the sentence best; the first one among equals. */
  function chooseSource(
    first: RegisteredSource,
    others: readonly RegisteredSource[],
    claim: AnswerClaim | undefined,
  ): RegisteredSource {
    if (others.length === 0 || claim === undefined) return first;
    let best = first;
    let bestRank = -1;
    for (const candidate of [first, ...others].slice(0, MAX_CANDIDATES)) {
      if (checksLeft <= 0) break;
      checksLeft -= 1;
      const rank = rankOf(claim, candidate);
      if (rank <= bestRank) continue;
      best = candidate;
      bestRank = rank;
    }
    return best;
  }

  /** Adds each source of a list at the end of an answer to the sentence that it supports best. */
  function citeListedSources(
    body: string,
    claims: readonly AnswerClaim[],
    listed: readonly SourceReference[],
  ): string {
    const refsAt = new Map<number, Set<string>>();
    for (const reference of listed) {
      let best: { rank: number; end: number; ref: string } | null = null;
      for (const candidate of candidatesOf(reference).slice(0, MAX_CANDIDATES)) {
        for (const claim of claims) {
          if (checksLeft <= 0) break;
          checksLeft -= 1;
          const rank = rankOf(claim, candidate);
          if (best === null || rank > best.rank) best = { rank, end: claim.end, ref: candidate.ref };
        }
      }
      if (best !== null) refsAt.set(best.end, (refsAt.get(best.end) ?? new Set()).add(best.ref));
    }
    let text = '';
    let at = 0;
    for (const [end, refs] of [...refsAt].sort(([a], [b]) => a - b)) {
      text += `${body.slice(at, end)} ${Array.from(refs, (ref) => `[${ref}]`).join('')}`;
      at = end;
    }
    return text + body.slice(at);
  }

  function removeDefinitions(text: string): string {
    const definitions = findLinkDefinitions(text);
    if (definitions.length === 0) return text;
    let kept = '';
    let at = 0;
    for (const { start, end } of definitions) {
      noteUnknown(text, { start, end });
      kept += text.slice(at, start);
      at = Math.min(text.length, end + 1);
    }
    return (kept + text.slice(at)).trimEnd();
  }

  function noteUnknown(text: string, { start, end }: Range): void {
    const line = text.slice(start, end);
    for (const { references } of findMarkers(line.slice(line.indexOf(']:') + 2), known)) {
      for (const one of references) if (candidatesOf(one).length === 0) unknown.add(one.name);
    }
  }

  return { cleanOnce };
}

function rankOf(claim: AnswerClaim, { chunk }: RegisteredSource): number {
  const { verdict, support } = checkClaimByWords(claim.text, chunk);
  return VERDICT_RANK[verdict] + support / 2;
}

function memoizeFind(register: SourceRegister): (reference: string) => RegisteredSource[] {
  const found = new Map<string, RegisteredSource[]>();
  return (reference) => {
    const sources = found.get(reference) ?? register.find(reference);
    found.set(reference, sources);
    return sources;
  };
}

/** Removes a horizontal rule at the end, which separated the list of sources. */
function removeLastRule(text: string): string {
  const line = text.lastIndexOf('\n') + 1;
  return /^[ \t]*(?:-{3,}|\*{3,}|_{3,})$/.test(text.slice(line)) ? text.slice(0, line).trimEnd() : text;
}

/** Whether an address is a web page on a host without sources, or an e-mail address. */
function isExternalLink(url: string, hosts: ReadonlySet<string>): boolean {
  if (/^mailto:[^\s@]+@[^\s@]+$/i.test(url)) return true;
  return /^https?:\/\/[^\s@]+$/i.test(url) && !hosts.has(hostOf(url));
}

function hostOf(url: string): string {
  return URL.parse(url)?.host.replace(/^www\./, '') ?? '';
}

function isAbsoluteAddress(url: string): boolean {
  return looksLikeAddress(url) && !/^[./#]/.test(url.trim());
}

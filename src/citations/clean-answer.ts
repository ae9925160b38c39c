import { replaceRanges } from '../text/markdown-blocks.ts';
import { memoize } from '../text/memoize.ts';
import { measureOverlap } from './check-sentence.ts';
import {
  type CitationMarker,
  findMarkers,
  type KnownSources,
  looksLikeAddress,
  type SourceReference,
} from './find-markers.ts';
import { removePlaceholders, rewriteMarkers } from './rewrite-markers.ts';
import { type RegisteredSource, type SourceRegister, toTitleKey } from './source-register.ts';
import { findLinkDefinitions, findSourcesSection } from './sources-section.ts';
import { type AnswerClaim, splitClaims } from './split-claims.ts';

/** Removing a marker can create another one, as in `[[9]9]`. Ordinary answers need two passes. */
const MAX_PASSES = 8;
/** Word checks per answer to choose between the chunks of a document; afterwards the first chunk is taken. */
const MAX_WORD_CHECKS = 2000;
const MAX_CANDIDATES = 64;
const LAST_RULE = /\n[ \t]*(?:-{3,}|\*{3,}|_{3,})$/;

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
  let text = removePlaceholders(answer);
  for (let pass = 0; pass < MAX_PASSES; pass += 1) {
    const { cleaned, markers, claims } = cleaner.cleanOnce(text);
    if (cleaned === text) return { text, unknown, markers, claims };
    text = cleaned;
  }
  // Adversarial text: remove every character that a marker can consist of.
  text = text.replace(/[[\]()【】<>`~:]/g, '').replace(/www\./gi, 'www ');
  return { text, unknown, markers: [], claims: splitClaims(text, []) };
}

function createCleaner(register: SourceRegister, unknown: Set<string>) {
  const findSources = memoize({ size: Number.POSITIVE_INFINITY }, register.find);
  const hosts = new Set(register.entries().map(({ chunk }) => hostOf(chunk.url)));
  const isTitle = (text: string) =>
    findSources(text).some(({ chunk }) => toTitleKey(chunk.title) === toTitleKey(text));
  const known: KnownSources = {
    knows: (reference) => findSources(reference).length > 0,
    // The title of a source must not name another page.
    isExternal: (url, label) =>
      findSources(url).length === 0 && isExternalLink(url, hosts) && !isTitle(label),
  };
  let checksLeft = MAX_WORD_CHECKS;

  function cleanOnce(text: string): { cleaned: string; markers: CitationMarker[]; claims: AnswerClaim[] } {
    const whole = removeDefinitions(text);
    const found = findMarkers(whole, known);
    const start = findSourcesSection(whole, found, known.knows);
    // A horizontal rule may separate the list of sources.
    const body =
      start === whole.length ? whole : whole.slice(0, start).trimEnd().replace(LAST_RULE, '').trimEnd();
    const inBody = found.filter(({ end }) => end <= body.length);
    const listed = found.slice(inBody.length).flatMap(({ references }) => references);
    const markers = inBody.map((marker) => (marker.external ? { ...marker, references: [] } : marker));
    const citing = markers.filter(({ external }) => external !== true);
    noteUnknown(listed);
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
    const claimOf = new Map(claims.flatMap((claim) => claim.markers.map((marker) => [marker, claim])));
    const resolved = markers.map((marker) => {
      noteUnknown(marker.references);
      const refs = marker.references.flatMap((reference) => {
        const candidates = candidatesOf(reference);
        const claim = claimOf.get(marker);
        const best = claim === undefined || candidates.length < 2 ? null : findBestPair(candidates, [claim]);
        return best?.ref ?? candidates[0]?.ref ?? [];
      });
      return { marker, refs };
    });
    return rewriteMarkers(body, resolved);
  }

  function noteUnknown(references: readonly SourceReference[]): void {
    for (const reference of references) {
      if (candidatesOf(reference).length === 0) unknown.add(reference.name);
    }
  }

  /** An address decides, unless it is relative and the name is the title of a source. */
  function candidatesOf({ name, url }: SourceReference): RegisteredSource[] {
    if (url === null) return findSources(name);
    const byUrl = /^\d+$/.test(url.trim()) ? [] : findSources(url);
    const byName = findSources(name);
    if (byUrl.length === 0) return isRelativeAddress(url) && isTitle(name) ? byName : [];
    const both = byUrl.filter(({ ref }) => byName.some((other) => other.ref === ref));
    return both.length > 0 ? both : byUrl;
  }

  /** The source and the sentence that it supports best; null without any, or after too many checks. */
  function findBestPair(candidates: readonly RegisteredSource[], claims: readonly AnswerClaim[]) {
    let best: { rank: number; end: number; ref: string } | null = null;
    for (const { ref, chunk } of candidates.slice(0, MAX_CANDIDATES)) {
      for (const { text, end } of claims) {
        if (checksLeft <= 0) return best;
        checksLeft -= 1;
        const rank = measureOverlap(text, chunk);
        if (best === null || rank > best.rank) best = { rank, end, ref };
      }
    }
    return best;
  }

  /** Adds each source of a list at the end of an answer to the sentence that it supports best. */
  function citeListedSources(
    body: string,
    claims: readonly AnswerClaim[],
    listed: readonly SourceReference[],
  ): string {
    const pairs = listed.flatMap((reference) => findBestPair(candidatesOf(reference), claims) ?? []);
    const byEnd = [...Map.groupBy(pairs, ({ end }) => end)].sort(([a], [b]) => a - b);
    const edits = byEnd.map(([end, cited]) => {
      const refs = new Set(cited.map(({ ref }) => `[${ref}]`));
      return { start: end, end, text: ` ${[...refs].join('')}` };
    });
    return replaceRanges(body, edits);
  }

  function removeDefinitions(text: string): string {
    const edits = findLinkDefinitions(text).map(({ start, end }) => {
      const target = text.slice(text.indexOf(']:', start) + 2, end);
      noteUnknown(findMarkers(target, known).flatMap(({ references }) => references));
      return { start, end: end + 1, text: '' };
    });
    return edits.length === 0 ? text : replaceRanges(text, edits).trimEnd();
  }

  return { cleanOnce };
}

/** Whether an address is a web page on a host without sources, or an e-mail address. */
function isExternalLink(url: string, hosts: ReadonlySet<string>): boolean {
  if (/^mailto:[^\s@]+@[^\s@]+$/i.test(url)) return true;
  return /^https?:\/\/[^\s@]+$/i.test(url) && !hosts.has(hostOf(url));
}

function hostOf(url: string): string {
  return URL.parse(url)?.host.replace(/^www\./, '') ?? '';
}

function isRelativeAddress(url: string): boolean {
  return !looksLikeAddress(url) || /^[./#]/.test(url.trim());
}

import { checkClaimByWords, VERDICT_RANK } from '../judge/claim-verdict.ts';
import type { Range } from '../text/markdown-blocks.ts';
import { findMarkers, type KnownSources, type Marker } from './find-markers.ts';
import { looksLikeAddress, type Reference } from './marker-syntax.ts';
import { type ResolvedMarker, rewriteMarkers } from './rewrite-markers.ts';
import type { RegisteredSource, SourceRegister } from './source-register.ts';
import { titleKey } from './source-register.ts';
import { findDefinitions, sourcesSectionStart } from './sources-section.ts';
import { type Claim, splitClaims } from './split-claims.ts';

/** Taking a marker out can make another one of what stood around it: `[[9]9]`. An honest answer needs two. */
const MOST_PASSES = 8;
/** Checks of one answer that choose between the chunks of a document. Beyond it the first one is taken. */
const MOST_CHOICES = 2000;
const MOST_CANDIDATES = 64;

export interface CleanAnswer {
  text: string;
  /** What the answer pointed at and was not retrieved, in its own words. */
  unknown: Set<string>;
  markers: Marker[];
  claims: Claim[];
}

/** An answer whose only markers are `[n]` of known sources, and which stays the same when it is cleaned again. */
export function cleanAnswer(answer: string, register: SourceRegister): CleanAnswer {
  const unknown = new Set<string>();
  const cleaning = createCleaning(register, unknown);
  let text = answer;
  for (let pass = 0; pass < MOST_PASSES; pass += 1) {
    const { cleaned, markers, claims } = cleaning.pass(text);
    if (cleaned === text) return { text, unknown, markers, claims };
    text = cleaned;
  }
  text = withoutAnyMarker(text);
  return { text, unknown, markers: [], claims: splitClaims(text, []) };
}

/** For text that was made to defeat the cleaning: nothing is left in it that a marker could be made of. */
function withoutAnyMarker(text: string): string {
  return text.replace(/[[\]()【】<>`~:]/g, '').replace(/www\./gi, 'www ');
}

function createCleaning(register: SourceRegister, unknown: Set<string>) {
  const sourcesOf = createLookup(register);
  const hosts = new Set(register.entries().map(({ chunk }) => hostOf(chunk.url)));
  const known: KnownSources = {
    knows: (reference) => sourcesOf(reference).length > 0,
    isTitle: (text) => sourcesOf(text).some(({ chunk }) => titleKey(chunk.title) === titleKey(text)),
    isOutside: (url) => sourcesOf(url).length === 0 && isOrdinary(url, hosts),
  };
  let choices = MOST_CHOICES;

  function pass(text: string): { cleaned: string; markers: Marker[]; claims: Claim[] } {
    const complete = withoutDefinitions(text);
    const found = findMarkers(complete, known);
    const start = sourcesSectionStart(complete, found, known.knows);
    const body = start < complete.length ? withoutRule(complete.slice(0, start).trimEnd()) : complete;
    const inBody = found.filter(({ end }) => end <= body.length);
    const listed = found.slice(inBody.length).flatMap(({ references }) => references);
    const ofBody = inBody.map((marker) => (marker.outside ? { ...marker, references: [] } : marker));
    const citing = ofBody.filter(({ outside }) => outside !== true);
    for (const reference of listed) if (candidatesOf(reference).length === 0) unknown.add(reference.name);
    const claims = splitClaims(body, ofBody);
    const cleaned =
      citing.length === 0 ? withListedSources(body, claims, listed) : rewritten(body, citing, claims);
    return { cleaned, markers: ofBody, claims };
  }

  function rewritten(body: string, markers: readonly Marker[], claims: readonly Claim[]): string {
    const claimOf = new Map(
      claims.flatMap((claim) => claim.markers.map((marker) => [marker, claim] as const)),
    );
    return rewriteMarkers(
      body,
      markers.map((marker) => resolve(marker, claimOf.get(marker))),
    );
  }

  function resolve(marker: Marker, claim: Claim | undefined): ResolvedMarker {
    const refs: string[] = [];
    for (const reference of marker.references) {
      const [first, ...others] = candidatesOf(reference);
      if (first === undefined) unknown.add(reference.name);
      else refs.push(bestOf(first, others, claim).ref);
    }
    return { marker, refs };
  }

  /** An address decides, unless it is relative; then a title that names the source is enough. */
  function candidatesOf({ name, url }: Reference): RegisteredSource[] {
    if (url === null) return sourcesOf(name);
    const byUrl = isNumber(url) ? [] : sourcesOf(url);
    const byName = sourcesOf(name);
    if (byUrl.length === 0) return looksAbsolute(url) ? [] : known.isTitle(name) ? byName : [];
    const both = byUrl.filter(({ ref }) => byName.some((other) => other.ref === ref));
    return both.length > 0 ? both : byUrl;
  }

  /** The chunk of a document that bears out the sentence best; the first one among equals. */
  function bestOf(
    first: RegisteredSource,
    others: readonly RegisteredSource[],
    claim: Claim | undefined,
  ): RegisteredSource {
    if (others.length === 0 || claim === undefined) return first;
    let best = first;
    let bestRank = -1;
    for (const candidate of [first, ...others].slice(0, MOST_CANDIDATES)) {
      if (choices <= 0) break;
      choices -= 1;
      const rank = rankOf(claim, candidate);
      if (rank <= bestRank) continue;
      best = candidate;
      bestRank = rank;
    }
    return best;
  }

  /** An answer that only lists its sources at the end: each goes to the sentence that it bears out best. */
  function withListedSources(body: string, claims: readonly Claim[], listed: readonly Reference[]): string {
    const refsAt = new Map<number, Set<string>>();
    for (const reference of listed) {
      let best: { rank: number; end: number; ref: string } | null = null;
      for (const candidate of candidatesOf(reference).slice(0, MOST_CANDIDATES)) {
        for (const claim of claims) {
          if (choices <= 0) break;
          choices -= 1;
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

  function withoutDefinitions(text: string): string {
    const definitions = findDefinitions(text);
    if (definitions.length === 0) return text;
    let kept = '';
    let at = 0;
    for (const { start, end } of definitions) {
      reportUnknown(text, { start, end });
      kept += text.slice(at, start);
      at = Math.min(text.length, end + 1);
    }
    return (kept + text.slice(at)).trimEnd();
  }

  function reportUnknown(text: string, { start, end }: Range): void {
    const line = text.slice(start, end);
    for (const { references } of findMarkers(line.slice(line.indexOf(']:') + 2), known)) {
      for (const one of references) if (candidatesOf(one).length === 0) unknown.add(one.name);
    }
  }

  return { pass };
}

function rankOf(claim: Claim, { chunk }: RegisteredSource): number {
  const { verdict, support } = checkClaimByWords(claim.text, chunk);
  return VERDICT_RANK[verdict] + support / 2;
}

function createLookup(register: SourceRegister): (reference: string) => RegisteredSource[] {
  const found = new Map<string, RegisteredSource[]>();
  return (reference) => {
    const known = found.get(reference) ?? register.find(reference);
    found.set(reference, known);
    return known;
  };
}

/** The rule that set the list of sources apart. */
function withoutRule(text: string): string {
  const line = text.lastIndexOf('\n') + 1;
  return /^[ \t]*(?:-{3,}|\*{3,}|_{3,})$/.test(text.slice(line)) ? text.slice(0, line).trimEnd() : text;
}

function isNumber(text: string): boolean {
  return /^\d+$/.test(text.trim());
}

/** A page of the web, or somebody to write to, that is not where the sources are. */
function isOrdinary(url: string, hosts: ReadonlySet<string>): boolean {
  if (/^mailto:[^\s@]+@[^\s@]+$/i.test(url)) return true;
  return /^https?:\/\/[^\s@]+$/i.test(url) && !hosts.has(hostOf(url));
}

function hostOf(url: string): string {
  return URL.parse(url)?.host.replace(/^www\./, '') ?? '';
}

function looksAbsolute(url: string): boolean {
  return looksLikeAddress(url) && !/^[./#]/.test(url.trim());
}

import type { StoredChunk, StoreHit } from '../ports/chunk-store.ts';

/** How much of what a passage of release notes is ranked by stays where nobody asks for such. */
const KEPT = 0.8;

const NAMES = "change[-_ ]?logs?|release[-_ ]?notes?|what['’]?s?[-_ ]?new|(?:release|version)[-_ ]?history";
/** `release-notes.md`, `changelog/`, `acme-changelog-2.1`. */
const PATH_PART = new RegExp(`^(?:[\\w.]+[-_])?(?:${NAMES})(?:[-_.]?v?\\d[\\w.-]*)?$`, 'i');
/** "Release notes", "Acme Changelog", "What's new in Acme 2". */
const TITLE = new RegExp(`^(?:[\\w.]+ ){0,2}(?:${NAMES})(?: (?:for|of|in) .*| v?\\d.*)?$`, 'i');
/** Also guides are called so; versions as headings tell them apart. */
const PATH_PART_OF_MANY = /^(?:changes|history|news|releases?)$/i;
const VERSION_HEADING = /^\W*(?:version |release |v)?\d+\.\d+(?:\.\d+)*\b|^\W*unreleased\b/i;

const ASKED_FOR = [
  /\bchange ?logs?\b|\breleas(?:es?|ed)\b|\bversions?\b|\bhistory\b|\bwhat(?:['’]s| is| was)? new\b|\bnew in\b/i,
  /\bchang(?:ed|es)\b|\bdeprecat|\bremoved\b|\bbreaking\b|\bintroduced\b|\bno longer\b|\bsince\b/i,
  /\bupgrad|\bmigrat|\bv\d|\d\.\d/i,
];

/** Hits in order, where passages of release notes give way to guides unless the query asks for what changed. */
export function letGuidesFirst(query: string, hits: readonly StoreHit[]): StoreHit[] {
  if (ASKED_FOR.some((asked) => asked.test(query))) return [...hits];
  return hits
    .map((hit) => (isReleaseNotes(hit.chunk) ? { ...hit, fusedScore: hit.fusedScore * KEPT } : hit))
    .sort((a, b) => b.fusedScore - a.fusedScore);
}

export function isReleaseNotes({
  url,
  title,
  headings,
}: Pick<StoredChunk, 'url' | 'title' | 'headings'>): boolean {
  const parts = url
    .replace(/[?#].*$/, '')
    .split('/')
    .map((part) => part.replace(/\.[a-z]{2,5}$/i, ''));
  if (TITLE.test(title.trim()) || parts.some((part) => PATH_PART.test(part))) return true;
  return (
    parts.some((part) => PATH_PART_OF_MANY.test(part)) &&
    headings.some((heading) => VERSION_HEADING.test(heading))
  );
}

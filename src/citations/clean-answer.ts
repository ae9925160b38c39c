import { findContentWords } from '../text/content-words.ts';
import { findMarkdownBlocks, replaceRanges } from '../text/markdown-blocks.ts';
import { type CitationMarker, findMarkers, findMarkersAndLinks } from './find-markers.ts';
import type { RegisteredSource, SourceRegister } from './source-register.ts';

/** Removing a marker can create another one, as in `[[9]9]`. Ordinary answers need two passes. */
const MAX_PASSES = 8;
/** Stands for a removed marker; no other text has it. */
const GONE = '\uFDD0';
/** The chunks of a document that are compared with the text before a marker, and the characters of that text. */
const MOST_COMPARED = 64;
const COMPARED_TEXT = 300;

/** `## Sources`, `**References:**` or `Sources: [1], [2]`. */
const LIST_TITLE =
  /^[\s#>*_-]{0,20}(?:sources|references|citations|bibliography|works cited)(?: used| cited)?[\s*_]{0,6}(?:$|:[\s*_]{0,6}(?:$|.*(?:[[【]|https?:)))/i;
const LIST_ENTRY = /^[ \t>*_]*(?:[-*+•]|\d{1,9}[.)]|[[【])/;
const LONGEST_ENTRY = 300;
/** A horizontal rule may separate the list. */
const LAST_RULE = /\n[ \t]*(?:-{3,}|\*{3,}|_{3,})$/;
/** Footnotes and link targets: `[1]: address` would turn `[1]` into a link. */
const DEFINITION = /^[ \t>]{0,20}\[(?:\^?\d{1,9}\]:|[^\]\n]{1,100}\]:[ \t]{0,20}<?[a-z]{2,20}:\S).*\n?/gim;

const GAP = '[ \\t]{0,20}';
/** Remove what is left over around removed markers. Repetitions are bounded, so that they take linear time. */
const REMOVALS = [
  [`(?:${GONE}${GAP}[,;&]?${GAP}){1,9}(?=${GONE})`, ''],
  [`[*_]{1,3}${GONE}[*_]{1,3}|\\[${GAP}${GONE}${GAP}\\]`, GONE],
  [`\\((?:(?:see|from|cf|sources?|refs?)[\\s:.]{0,9})?${GAP}${GONE}${GAP}\\)`, GONE],
  [`\\(${GAP}${GONE}${GAP}[,;]?${GAP}`, '('],
  // A line with nothing else.
  [
    `(?:^|\\n{1,2})[ \\t>]{0,20}(?:(?:[-*+•]|\\d{1,9}[.)])${GAP})?(?:(?:sources?|see):?${GAP})?${GONE}${GAP}(?=\\n|$)`,
    '',
  ],
  [`((?:^|\\n)${GAP})${GONE}${GAP}`, '$1'],
  [`${GONE}(?=\\[)`, ''],
  [`[,;]?${GAP}${GONE}${GAP}(?=[.,;:!?)\\]]|\\n|$)`, ''],
  [`${GAP}${GONE}`, ''],
].map(([pattern = '', replacement = '']) => ({ pattern: new RegExp(pattern, 'gi'), replacement }));

/**
 * Rewrites an answer so that its only markers are `[n]` of known sources. A list of sources below text that cites is
 * removed. `unknown` has the references to sources that were not retrieved, as written. Idempotent.
 */
export function cleanAnswer(answer: string, register: SourceRegister) {
  const unknown = new Set<string>();
  let text = answer.replaceAll(GONE, '');
  for (let pass = 0; pass < MAX_PASSES; pass += 1) {
    const cleaned = cleanOnce(text, register, unknown);
    if (cleaned === text) return { text, unknown };
    text = cleaned;
  }
  // Adversarial text: remove every character that a marker can consist of.
  return { text: text.replace(/[[\]【】]/g, ''), unknown };
}

function cleanOnce(text: string, register: SourceRegister, unknown: Set<string>): string {
  const at = findSourcesList(text);
  const body = rewriteMarkers(text.slice(0, at), false, register, unknown);
  if (at === text.length) return body;
  const list = rewriteMarkers(text.slice(at), true, register, unknown);
  // Without the list, an answer that cites nothing else would have no sources.
  if (findMarkers(body).length === 0 && findMarkers(list).length > 0) return `${body.trimEnd()}\n\n${list}`;
  return body.trimEnd().replace(LAST_RULE, '').trimEnd();
}

/** The start of a list of sources at the end of an answer, or the length of the answer. */
function findSourcesList(text: string): number {
  const lines = text.split('\n');
  const title = lines.findLastIndex((line) => LIST_TITLE.test(line));
  const entries = lines.slice(title + 1).filter((line) => line.trim() !== '');
  const body = lines.slice(0, Math.max(0, title)).join('\n');
  const isList =
    /[\p{L}\p{N}]/u.test(body) &&
    entries.every((line) => line.length <= LONGEST_ENTRY && LIST_ENTRY.test(line)) &&
    lines.slice(title).some((line) => /[[【]|https?:/.test(line));
  return isList ? body.length + 1 : text.length;
}

function rewriteMarkers(
  written: string,
  isList: boolean,
  register: SourceRegister,
  unknown: Set<string>,
): string {
  const text = removeDefinitions(written);
  const edits = findMarkersAndLinks(text, (ref) => register.chunkOf(ref) !== undefined)
    .filter((marker) => isList || !isPlainLink(marker, register))
    .map((marker) => {
      const { start, end, names, link } = marker;
      const before = text.slice(Math.max(0, start - COMPARED_TEXT), start);
      const found = link === null ? names.map(register.find) : [findLinked(marker, register)];
      found.forEach((sources, index) => {
        if (sources.length === 0) unknown.add(names[index] ?? (link?.label.trim() || (link?.url ?? '')));
      });
      const refs = new Set(found.flatMap((sources) => chooseSource(sources, before) ?? []));
      const cited = [...refs].map((ref) => `[${ref}]`).join('');
      const label = isList || names.length > 0 || isBeside(text, marker) ? '' : (link?.label.trim() ?? '');
      return { start, end, text: [label, cited].filter((part) => part !== '').join(' ') || GONE };
    });
  const rewritten = replaceRanges(text, edits);
  if (!rewritten.includes(GONE)) return rewritten;
  return REMOVALS.reduce((rest, { pattern, replacement }) => rest.replace(pattern, replacement), rewritten);
}

function removeDefinitions(text: string): string {
  if (!text.includes(']:')) return text;
  const edits = findMarkdownBlocks(text).flatMap(({ kind, start, end }) =>
    Array.from(kind === 'code' ? [] : text.slice(start, end).matchAll(DEFINITION), ({ 0: line, index }) => ({
      start: start + index,
      end: start + index + line.length,
      text: '',
    })),
  );
  return edits.length === 0 ? text : replaceRanges(text, edits).trimEnd();
}

/** A link to another web page cites nothing, unless it pretends to be a source. Images load without a click. */
function isPlainLink({ names, link }: CitationMarker, { find }: SourceRegister): boolean {
  if (link === null || names.length > 0 || link.isImage || /[[\]【]/.test(link.label)) return false;
  const isWebLink = /^(?:https?:\/\/|mailto:)\S+$/i.test(link.url);
  return isWebLink && find(link.url).length === 0 && find(link.label).length === 0;
}

/** The sources with the address of a link, those with its name first. */
function findLinked({ names, link }: CitationMarker, { find }: SourceRegister): RegisteredSource[] {
  const url = link?.url.trim() ?? '';
  const byUrl = /^\d*$/.test(url) ? [] : find(url);
  const named = new Set(names.flatMap(find).map(({ ref }) => ref));
  const both = byUrl.filter(({ ref }) => named.has(ref));
  return both.length > 0 ? both : byUrl;
}

/** The ref of the source that has most of the content words of a text. */
function chooseSource(sources: readonly RegisteredSource[], text: string): string | undefined {
  if (sources.length < 2) return sources[0]?.ref;
  const terms = termsOf(text.slice(text.lastIndexOf('\n') + 1));
  const ranked = sources
    .slice(0, MOST_COMPARED)
    .map(({ ref, chunk }) => ({ ref, shared: terms.intersection(termsOf(chunk.text)).size }));
  return ranked.toSorted((a, b) => b.shared - a.shared)[0]?.ref;
}

function termsOf(text: string): Set<string> {
  return new Set(findContentWords(text).map(({ term }) => term));
}

/** Whether a link stands after a sentence or alone in parentheses, so that its text only names the source. */
function isBeside(text: string, { start, end }: CitationMarker): boolean {
  const before = text.slice(Math.max(0, start - 10), start);
  const after = text.slice(end, end + 40);
  const isAlone = /[.!?]["'”’)]*[ \t]+$/.test(before) && /^[ \t]*(?:$|\n|[[【])/.test(after);
  return isAlone || (/[\s.]\($/.test(before) && after.startsWith(')'));
}

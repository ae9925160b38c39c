import { type PassagePart, splitPassageParts } from '../../text/passage-parts.ts';
import { indexTerms, queryTerms } from '../../text/terms.ts';
import type { OfflinePassage } from './parse-model-request.ts';

/** A part of a passage that is shown. */
export interface SectionPart extends PassagePart {
  passage: OfflinePassage;
}

/** A section grows by its neighbours up to this many words. */
const MAX_WORDS = 250;
/** Of a list or table beside it that does not fit, lines with words of the query are shown, at least this many words. */
const MIN_LINES_WORDS = 80;
/** A neighbour is not shown from the middle of its code, list or table on. */
const STARTS_SECTION: ReadonlySet<PassagePart['kind']> = new Set(['paragraph', 'label']);

/**
 * The parts to show of a passage: all of it, and what fits of the passages around it under the same heading. `around` has
 * the passages of the document in order. Lists, tables and code are whole, except for the lines that match the query of a
 * list or table that does not fit; the last part introduces nothing.
 */
export function selectSection(
  best: OfflinePassage,
  around: readonly OfflinePassage[],
  query: string,
): SectionPart[] {
  const blocks = groupParts(sameSection(best, around).flatMap(partsOf));
  const isOfBest = (block: SectionPart[]) => block.some(({ passage }) => passage.ref === best.ref);
  let from = blocks.findIndex(isOfBest);
  let to = blocks.findLastIndex(isOfBest);
  const fits = (first: number, last: number) => {
    if (first < 0 || last >= blocks.length) return false;
    return countWords(blocks.slice(first, last + 1).flat()) <= MAX_WORDS;
  };
  for (let size = -1; size !== to - from; ) {
    size = to - from;
    if (fits(from, to + 1)) to += 1;
    if (fits(from - 1, to)) from -= 1;
  }
  const wordsLeft = Math.max(MIN_LINES_WORDS, MAX_WORDS - countWords(blocks.slice(from, to + 1).flat()));
  const shown = [
    ...matchingLines(blocks[from - 1] ?? [], query, wordsLeft),
    ...blocks.slice(Math.max(0, from), to + 1).flat(),
    ...matchingLines(blocks[to + 1] ?? [], query, wordsLeft),
  ];
  const first = shown.findIndex(({ passage, kind }) => passage.ref === best.ref || STARTS_SECTION.has(kind));
  const last = shown.findLastIndex((part) => !isLeadIn(part));
  return withoutRepetition(last < 0 ? shown : shown.slice(first, last + 1));
}

/** The lines of a list or table with words of the query, those with most of them first to be kept, and what introduces them. */
function matchingLines(block: readonly SectionPart[], query: string, maxWords: number): SectionPart[] {
  const terms = new Set(queryTerms(query));
  const lines = block
    .filter(({ kind }) => kind === 'row' || kind === 'item')
    .map((part) => ({ part, found: new Set(indexTerms(textOfPart(part))).intersection(terms).size }))
    .filter(({ found }) => found > 0)
    .sort((a, b) => b.found - a.found);
  const kept = new Set<SectionPart>();
  let words = 0;
  for (const { part } of lines) {
    words += countWords([part]);
    if (words <= maxWords) kept.add(part);
  }
  return kept.size === 0 ? [] : block.filter((part) => kept.has(part) || isLeadIn(part));
}

export function textOfPart({ passage, start, end }: SectionPart): string {
  return passage.text.slice(start, end);
}

function partsOf(passage: OfflinePassage): SectionPart[] {
  return splitPassageParts(passage.text).map((part) => ({ ...part, passage }));
}

/** The run of passages around the best one whose heading path contains that of the best one or is contained in it. */
function sameSection(best: OfflinePassage, around: readonly OfflinePassage[]): OfflinePassage[] {
  const at = around.findIndex(({ ref }) => ref === best.ref);
  if (at < 0) return [best];
  const isOther = ({ headings }: OfflinePassage) =>
    headings.some((heading, depth) => heading !== (best.headings[depth] ?? heading));
  const before = around.slice(0, at).findLastIndex(isOther);
  const after = around.slice(at).findIndex(isOther);
  return around.slice(before + 1, after < 0 ? around.length : at + after);
}

/** Parts that are shown together: a list, a table, or a part with the lines that introduce it. */
function groupParts(parts: readonly SectionPart[]): SectionPart[][] {
  const blocks: SectionPart[][] = [];
  for (const part of parts) {
    const block = blocks.at(-1);
    if (block !== undefined && continues(block, part)) block.push(part);
    else blocks.push([part]);
  }
  return blocks;
}

function continues(block: readonly SectionPart[], next: SectionPart): boolean {
  const last = block.at(-1);
  if (last === undefined || isLeadIn(last)) return true;
  if (next.kind === 'item') return block.some(({ kind }) => kind === 'item');
  if (next.kind === 'row') return last.kind === 'row';
  if (next.kind !== 'code') return false;
  // Long code is split into passages.
  return last.kind === 'item' || (last.kind === 'code' && last.passage !== next.passage);
}

/** Whether a part only introduces the next one. */
function isLeadIn(part: SectionPart): boolean {
  if (part.kind === 'code' || part.kind === 'row') return false;
  return part.kind === 'label' || /:[*_\s]*$/.test(textOfPart(part));
}

/** A passage repeats the last sentence of the one before. */
function withoutRepetition(parts: readonly SectionPart[]): SectionPart[] {
  const lastSentence = ({ passage, sentences }: SectionPart) => {
    const sentence = sentences.at(-1);
    return sentence && passage.text.slice(sentence.start, sentence.end);
  };
  return parts.flatMap((part, index) => {
    const before = parts[index - 1];
    const [first, ...rest] = part.sentences;
    if (before === undefined || before.passage === part.passage || first === undefined) return [part];
    if (part.passage.text.slice(first.start, first.end) !== lastSentence(before)) return [part];
    return rest[0] === undefined ? [] : [{ ...part, start: rest[0].start, sentences: rest }];
  });
}

function countWords(parts: readonly SectionPart[]): number {
  return parts.reduce((sum, part) => sum + textOfPart(part).trim().split(/\s+/).length, 0);
}

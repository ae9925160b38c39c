import { findCodeSpans, type TextRange } from '../../text/markdown-blocks.ts';
import { type PassagePart, type PassageUnit, splitPassageParts } from '../../text/passage-units.ts';
import type { OfflinePassage } from './parse-model-request.ts';

const MAX_CODE_LINES = 40;
const MAX_ROWS = 8;

/** A sentence that gives instructions to a model. Such sentences are not quoted. */
const MODEL_INSTRUCTION =
  /^\W*(?:(?:system|assistant|ai|model|note to (?:the )?(?:ai|assistant|model))\s*:|(?:please |now |then )?(?:ignore|disregard|forget|override) (?:all|any|the|your|these|previous|prior|earlier)\b.*\b(?:instructions?|rules|prompts?|commands?|messages?|documents?)\b|you are now\b|from now on,? (?:you|answer|always|reply)\b)/im;
/** The tags around the passages of a prompt. */
const SOURCE_TAG = /<\/?source\b/i;
/** Written as code, since addresses would be taken for citations. */
const ADDRESS_END = /[^\s)\]>"']*[^\s)\]>"'.,;:!?]/.source;
const ADDRESS = `https?://(?:\\[[\\da-f:]+\\](?:${ADDRESS_END})?|${ADDRESS_END})`;
/** A word; written as code if Markdown would change it: `**kwargs`, `__init__`, `<div>`, `[1]`. */
const WORD = /[^\s"'“”‘’(),;:!?](?:[^\s"“”]*[^\s"'“”‘’(),;:!?.])?(?:\(\))?/.source;
const ADDRESS_OR_WORD = new RegExp(`(${ADDRESS})|${WORD}`, 'gi');
const HAS_MARKUP = /\[\^?\d+\]|\*|~~|<[a-z/!]|\\[!-/:-@[-`{-~]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/iu;
/** Markdown leaves these unchanged. */
const ONLY_MARKUP = /^[*_]+$/;
const LINK = /\[([^\]\n]*)\]\(([^)\s]*)[^)]*\)/g;

/**
 * Quotes a unit of a passage with its lead-in and the parts around it, up to a number of words. A marker follows every
 * sentence, so that each is checked.
 */
export function formatExcerpt(passage: OfflinePassage, unit: PassageUnit, maxWords: number): string {
  const parts = splitPassageParts(passage.text);
  const { from, to } = findExcerpt(passage.text, parts, unit, maxWords);
  const shortened = shortenParagraph(passage.text, parts.slice(from, to + 1), unit, maxWords);
  return formatParts(passage, shortened, 'sentence');
}

/** Quotes a whole passage below its title and headings. */
export function formatPassage(passage: OfflinePassage): string {
  const path = [passage.title, ...passage.headings.filter((heading) => heading !== passage.title)];
  const text = passage.isAttached
    ? formatAttached(passage)
    : formatParts(passage, splitPassageParts(passage.text), 'part');
  return `### ${path.filter((part) => part !== '').join(' › ')}\n\n${text}`;
}

/** Attached text is fenced, since it is usually a log or code. */
function formatAttached({ text, ref }: OfflinePassage): string {
  const fence = '`'.repeat(Math.max(3, ...(text.match(/`+/g) ?? []).map((run) => run.length + 1)));
  const lines = text.split('\n').filter((line) => !isModelInstruction(line));
  return [fence, ...lines, fence, '', `[${ref}]`].join('\n');
}

/** The longest run of parts around a unit within the limits. Grows by the part after it, then by the one before. */
function findExcerpt(
  text: string,
  parts: readonly PassagePart[],
  unit: PassageUnit,
  maxWords: number,
): { from: number; to: number } {
  let { from, to } = unit.parts;
  const { leadIn } = unit;
  if (leadIn !== null && unit.kind !== 'row') {
    const introduced = parts.findIndex(({ start, end }) => start <= leadIn.start && leadIn.end <= end);
    if (introduced >= 0) from = Math.min(from, introduced);
  }
  if (parts[from - 1]?.kind === 'label') from -= 1;
  const fits = (first: number, last: number) => fitsLimits(text, parts.slice(first, last + 1), maxWords);
  for (let size = -1; size !== to - from; ) {
    size = to - from;
    if (to + 1 < parts.length && fits(from, to + 1)) to += 1;
    if (from > 0 && fits(from - 1, to)) from -= 1;
  }
  while (to > unit.parts.to && isLeadIn(text, parts[to])) to -= 1;
  return { from, to };
}

/** Whether a part only introduces the next one. */
function isLeadIn(text: string, part: PassagePart | undefined): boolean {
  if (part === undefined || part.kind === 'code' || part.kind === 'row') return false;
  return part.kind === 'label' || /:[*_\s]*$/.test(text.slice(part.start, part.end));
}

function fitsLimits(text: string, parts: readonly PassagePart[], maxWords: number): boolean {
  let words = 0;
  let lines = 0;
  let rows = 0;
  for (const part of parts) {
    const written = text.slice(part.start, part.end);
    if (part.kind === 'code') lines += written.split('\n').length - 2;
    else if (part.kind === 'row') rows += 1;
    else words += countWords(written);
  }
  return words <= maxWords && lines <= MAX_CODE_LINES && rows <= MAX_ROWS;
}

/** Cuts a paragraph that exceeds the limit alone, so that it starts with the sentence of the unit. */
function shortenParagraph(
  text: string,
  parts: readonly PassagePart[],
  unit: PassageUnit,
  maxWords: number,
): PassagePart[] {
  return parts.map((part) => {
    if (part.kind !== 'paragraph' || unit.start < part.start || unit.start >= part.end) return part;
    if (countWords(text.slice(part.start, part.end)) <= maxWords) return part;
    const at = part.sentences.findIndex(({ start }) => start === unit.start);
    const kept: TextRange[] = [];
    let words = 0;
    for (const sentence of part.sentences.slice(Math.max(0, at - (unit.leadIn === null ? 0 : 1)))) {
      words += countWords(text.slice(sentence.start, sentence.end));
      if (kept.length > 0 && words > maxWords) break;
      kept.push(sentence);
    }
    return {
      ...part,
      start: kept[0]?.start ?? part.start,
      end: kept.at(-1)?.end ?? part.end,
      sentences: kept,
    };
  });
}

/** Parts as Markdown, with a marker after every sentence or at the end of every part. */
function formatParts(
  { text, ref }: OfflinePassage,
  parts: readonly PassagePart[],
  markerAfter: 'sentence' | 'part',
): string {
  const written: string[] = [];
  let head: TextRange | null = null;
  const marker = `[${ref}]`;
  parts.forEach((part, index) => {
    const own = text.slice(part.start, part.end);
    const quotable = part.sentences.filter(({ start, end }) => !isModelInstruction(text.slice(start, end)));
    if (part.sentences.length > 0 ? quotable.length === 0 : isModelInstruction(own)) return;
    const before = parts[index - 1];
    switch (part.kind) {
      case 'label':
        written.push(toQuotedProse(own.replace(/^[#\s]+/, '')));
        break;
      case 'code':
        // A marker cannot be inside a fence: the lead-in is cited instead, or else a line below the code.
        written.push(before?.sentences.length && before.kind !== 'label' ? own : `${own}\n\n${marker}`);
        break;
      case 'row': {
        const opens = part.head !== null && part.head.start !== head?.start;
        const row = opens ? `${text.slice(part.head?.start, part.head?.end)}\n${own}` : own;
        const last = written.length - 1;
        if (before?.kind === 'row' && !opens) written[last] += `\n${row}`;
        else written.push(row);
        if (parts[index + 1]?.kind !== 'row') written.push(marker);
        break;
      }
      default: {
        const bullet = /^\s*(?:[-*+•]|\d{1,9}[.)])\s+/.exec(own)?.[0].trimStart() ?? '';
        const sentences = quotable.map(({ start, end }) => toQuotedProse(text.slice(start, end)));
        const quoted =
          markerAfter === 'sentence'
            ? sentences.map((sentence) => `${sentence} ${marker}`).join(' ')
            : `${sentences.join(' ')} ${marker}`;
        const item = part.kind === 'item' && before?.kind === 'item';
        if (item) written[written.length - 1] += `\n${bullet}${quoted}`;
        else written.push(`${bullet}${quoted}`);
      }
    }
    head = part.head;
  });
  return written.join('\n\n');
}

function isModelInstruction(text: string): boolean {
  return MODEL_INSTRUCTION.test(text) || SOURCE_TAG.test(text);
}

/** Prose as Markdown that shows the same characters. Code stays code. */
function toQuotedProse(prose: string): string {
  const line = prose.replace(/\s+/g, ' ').replace(LINK, '$1');
  const plain = (from: number, to?: number) =>
    line
      .slice(from, to)
      .replace(ADDRESS_OR_WORD, (word, address?: string) =>
        isShownAsCode(word, address !== undefined) ? `\`${word}\`` : word.replaceAll('`', '\\`'),
      );
  let quoted = '';
  let at = 0;
  for (const { start, end } of findCodeSpans(line, { start: 0, end: line.length })) {
    quoted += plain(at, start) + line.slice(start, end);
    at = end;
  }
  return quoted + plain(at);
}

function isShownAsCode(word: string, isAddress: boolean): boolean {
  if (word.includes('`') || ONLY_MARKUP.test(word)) return false;
  return isAddress || HAS_MARKUP.test(word);
}

function countWords(text: string): number {
  return text.split(/\s+/).filter((word) => word !== '').length;
}

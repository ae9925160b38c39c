import { findCodeSpans, type Range } from '../../text/markdown-blocks.ts';
import { type PassagePart, type PassageUnit, passageParts } from '../../text/passage-units.ts';
import type { Passage } from './read-request.ts';

/** How much of a passage an answer tells: words of prose, beside code and rows that are short enough to be read. */
const MOST_WORDS = 120;
const MOST_CODE_LINES = 40;
const MOST_ROWS = 8;

/** Speaks to a model instead of saying something about the subject. One who writes about such text quotes it. */
const COMMANDS_THE_MODEL =
  /^\W*(?:(?:system|assistant|ai|model|note to (?:the )?(?:ai|assistant|model))\s*:|(?:please |now |then )?(?:ignore|disregard|forget|override) (?:all|any|the|your|these|previous|prior|earlier)\b.*\b(?:instructions?|rules|prompts?|commands?|messages?|documents?)\b|you are now\b|from now on,? (?:you|answer|always|reply)\b)/im;
/** What stands around the passages of a prompt; no document means it. */
const FORGES = /<\/?source\b/i;
/** Addresses would be taken for citations of the answer: they are shown as code. */
const ADDRESS_END = /[^\s)\]>"']*[^\s)\]>"'.,;:!?]/.source;
const ADDRESS = `https?://(?:\\[[\\da-f:]+\\](?:${ADDRESS_END})?|${ADDRESS_END})`;
/** So are words that an answer, which is Markdown, would have lost signs of: notes, indices, `**kwargs`, `__init__`, `<div>`. */
const WORD = /[^\s"'“”‘’(),;:!?](?:[^\s"“”]*[^\s"'“”‘’(),;:!?.])?(?:\(\))?/.source;
const ADDRESS_OR_WORD = new RegExp(`(${ADDRESS})|${WORD}`, 'gi');
const LOSES_SIGNS = /\[\^?\d+\]|\*|~~|<[a-z/!]|\\[!-/:-@[-`{-~]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/iu;
/** Signs that stand alone are what they are to Markdown, too. */
const NOTHING_BUT_SIGNS = /^[*_]+$/;
const LINK = /\[([^\]\n]*)\]\(([^)\s]*)[^)]*\)/g;
/** What a page shows to warn of it. */
const WARNS =
  /\b(?:do not|don['’]t|never|avoid|fails?|failing|wrong|incorrect|invalid|not work|doesn['’]t work|won['’]t work|broken|bad|mistake|deprecated)\b[^.]*:?$/i;

/**
 * What a passage says around a unit of it, in its own order and words: the unit with what introduces it, then what
 * stands after and before it, as far as there is room. A ref follows every sentence, so that each is checked.
 */
export function tellUnit(passage: Passage, unit: PassageUnit, mostWords = MOST_WORDS): string {
  const parts = passageParts(passage.text);
  const { from, to } = excerptAround(passage.text, parts, unit, mostWords);
  const left = warnings(passage.text, parts, unit);
  const told = parts.slice(from, to + 1).filter((part) => !left.has(part));
  return write(passage, withinRoom(passage.text, told, unit, mostWords), 'sentence');
}

/** All of a passage below its place. */
export function tellWhole(passage: Passage): string {
  const place = [passage.title, ...passage.headings.filter((heading) => heading !== passage.title)];
  const told = passage.given ? fenced(passage) : write(passage, passageParts(passage.text), 'part');
  return `### ${place.filter((part) => part !== '').join(' › ')}\n\n${told}`;
}

/** Line by line, as it was given: it is a log or code more often than prose. */
function fenced({ text, ref }: Passage): string {
  const fence = '`'.repeat(Math.max(3, ...(text.match(/`+/g) ?? []).map((run) => run.length + 1)));
  const lines = text.split('\n').filter((line) => !isForModels(line));
  return [fence, ...lines, fence, '', `[${ref}]`].join('\n');
}

/** The longest run of parts around a unit that there is room for; it grows by what follows, then by what comes before. */
function excerptAround(
  text: string,
  parts: readonly PassagePart[],
  unit: PassageUnit,
  mostWords: number,
): { from: number; to: number } {
  let { from, to } = unit.parts;
  const { leadIn } = unit;
  if (leadIn !== null && unit.kind !== 'row') {
    const introduced = parts.findIndex(({ start, end }) => start <= leadIn.start && leadIn.end <= end);
    if (introduced >= 0) from = Math.min(from, introduced);
  }
  if (parts[from - 1]?.kind === 'label') from -= 1;
  const fits = (first: number, last: number) => isReadable(text, parts.slice(first, last + 1), mostWords);
  for (let grew = true; grew; ) {
    grew = false;
    if (to + 1 < parts.length && fits(from, to + 1)) {
      to += 1;
      grew = true;
    }
    if (from > 0 && fits(from - 1, to)) {
      from -= 1;
      grew = true;
    }
  }
  while (to > unit.parts.to && leadsIn(text, parts[to])) to -= 1;
  return { from, to };
}

/** Whether a part only announces what follows it. */
function leadsIn(text: string, part: PassagePart | undefined): boolean {
  if (part === undefined || part.kind === 'code' || part.kind === 'row') return false;
  return part.kind === 'label' || /:[*_\s]*$/.test(text.slice(part.start, part.end));
}

function isReadable(text: string, parts: readonly PassagePart[], mostWords: number): boolean {
  let words = 0;
  let lines = 0;
  let rows = 0;
  for (const part of parts) {
    const written = text.slice(part.start, part.end);
    if (part.kind === 'code') lines += written.split('\n').length - 2;
    else if (part.kind === 'row') rows += 1;
    else words += wordsIn(written);
  }
  return words <= mostWords && lines <= MOST_CODE_LINES && rows <= MOST_ROWS;
}

/** A paragraph that is too long by itself is told from the sentence on that was chosen. */
function withinRoom(
  text: string,
  parts: readonly PassagePart[],
  unit: PassageUnit,
  mostWords: number,
): PassagePart[] {
  return parts.map((part) => {
    if (part.kind !== 'paragraph' || unit.start < part.start || unit.start >= part.end) return part;
    if (wordsIn(text.slice(part.start, part.end)) <= mostWords) return part;
    const at = part.sentences.findIndex(({ start }) => start === unit.start);
    const kept: Range[] = [];
    let words = 0;
    for (const sentence of part.sentences.slice(Math.max(0, at - (unit.leadIn === null ? 0 : 1)))) {
      words += wordsIn(text.slice(sentence.start, sentence.end));
      if (kept.length > 0 && words > mostWords) break;
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

/** Code that the page shows as what not to do, unless it is just what was chosen. */
function warnings(text: string, parts: readonly PassagePart[], unit: PassageUnit): Set<PassagePart> {
  const warned = new Set<PassagePart>();
  parts.forEach((part, index) => {
    if (part.kind !== 'code' || (index >= unit.parts.from && index <= unit.parts.to)) return;
    if (warnsOf(text, parts, index)) warned.add(part);
  });
  return warned;
}

/** Whether the sentence that leads in to a part warns of it. */
export function warnsOf(text: string, parts: readonly PassagePart[], index: number): boolean {
  const before = parts.slice(0, index).findLast(({ kind }) => kind !== 'label');
  const leadIn = before?.sentences.at(-1);
  return leadIn !== undefined && WARNS.test(text.slice(leadIn.start, leadIn.end).trim());
}

/** Parts as Markdown, each with the ref of the passage: after every sentence, or once at its end. */
function write({ text, ref }: Passage, parts: readonly PassagePart[], refs: 'sentence' | 'part'): string {
  const written: string[] = [];
  let head: Range | null = null;
  const marker = `[${ref}]`;
  parts.forEach((part, index) => {
    const own = text.slice(part.start, part.end);
    const speaks = part.sentences.filter(({ start, end }) => !isForModels(text.slice(start, end)));
    if (part.sentences.length > 0 ? speaks.length === 0 : isForModels(own)) return;
    const before = parts[index - 1];
    switch (part.kind) {
      case 'label':
        written.push(quotable(own.replace(/^[#\s]+/, '')));
        break;
      case 'code':
        // What leads in to code is cited in its stead, or else the line below: nothing within a fence is a marker.
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
        const sentences = speaks.map(({ start, end }) => quotable(text.slice(start, end)));
        const told =
          refs === 'sentence'
            ? sentences.map((sentence) => `${sentence} ${marker}`).join(' ')
            : `${sentences.join(' ')} ${marker}`;
        const item = part.kind === 'item' && before?.kind === 'item';
        if (item) written[written.length - 1] += `\n${bullet}${told}`;
        else written.push(`${bullet}${told}`);
      }
    }
    head = part.head;
  });
  return written.join('\n\n');
}

function isForModels(text: string): boolean {
  return COMMANDS_THE_MODEL.test(text) || FORGES.test(text);
}

/** Prose as a sentence of an answer. What is code in it stays code, and begins or ends no other. */
function quotable(prose: string): string {
  const line = prose.replace(/\s+/g, ' ').replace(LINK, '$1');
  const plain = (from: number, to?: number) =>
    line
      .slice(from, to)
      .replace(ADDRESS_OR_WORD, (word, address?: string) =>
        isShownAsCode(word, address !== undefined) ? `\`${word}\`` : word.replaceAll('`', '\\`'),
      );
  let told = '';
  let at = 0;
  for (const { start, end } of findCodeSpans(line, { start: 0, end: line.length })) {
    told += plain(at, start) + line.slice(start, end);
    at = end;
  }
  return told + plain(at);
}

function isShownAsCode(word: string, isAddress: boolean): boolean {
  if (word.includes('`') || NOTHING_BUT_SIGNS.test(word)) return false;
  return isAddress || LOSES_SIGNS.test(word);
}

function wordsIn(text: string): number {
  return text.split(/\s+/).filter((word) => word !== '').length;
}

import { type Block, findBlocks, type Range } from './markdown-blocks.ts';
import { itself, remembering } from './remembering.ts';
import { sentencesIn } from './split-sentences.ts';

/** What an answer may be made of. */
export type UnitKind = 'sentence' | 'item' | 'steps' | 'row' | 'code' | 'definition';

/** A part of a passage that can stand as an answer. Ranges are of the passage's characters. */
export interface PassageUnit extends Range {
  kind: UnitKind;
  /** What introduces it: the sentence before code or a list, the header of a row, what a sentence refers back to. */
  leadIn: Range | null;
  /** The first and the last part of the passage that it takes up. */
  parts: { from: number; to: number };
}

/** A run of lines of a passage that belong together, as a reader sees them. */
export interface PassagePart extends Range {
  kind: 'paragraph' | 'label' | 'item' | 'row' | 'code';
  /** The sentences of prose; of a row and of code, none. */
  sentences: Range[];
  /** Of an item, its number in a numbered list; of all else, null. */
  number: number | null;
  /** Of a row, the head of its table with the rule below it. */
  head: Range | null;
}

/** Speaks of what stood before it. */
const REFERS_BACK =
  /^(?:it|its|this|that|these|those|they|their|he|she|such|both|however|therefore|thus|instead|otherwise|also|then|here|there|similarly|alternatively|additionally|for example|e\.g\.)\b/i;
const ITEM = /^(?:[ \t]|>)*(?:[-*+•]|(\d{1,9})[.)])[ \t]+/;
const TABLE_RULE = /^[ \t]*\|(?:[ \t]*:?-{2,}:?[ \t]*\|?)+[ \t]*$/;
/** A line of so few words without an end of a sentence names what follows: a file, a system, a case. */
const MOST_LABEL_WORDS = 8;
const MOST_REMEMBERED = 64;
const ENDS_SENTENCE = /[.!?。！？:;]["'”’)\]*_]*$/;

/** The parts of a passage in order. A heading is a label; so is the name of a file above its code. */
export const passageParts = remembering(
  { most: MOST_REMEMBERED, keyOf: itself },
  (text: string): readonly PassagePart[] => {
    const blocks = findBlocks(text);
    const parts: PassagePart[] = [];
    let head: Range | null = null;
    blocks.forEach((block, index) => {
      const written = text.slice(block.start, block.end);
      const isRow = block.kind === 'text' && written.trimStart().startsWith('|');
      if (!isRow) head = null;
      if (isRow) {
        const next = blocks[index + 1];
        if (TABLE_RULE.test(written)) return;
        if (next !== undefined && TABLE_RULE.test(text.slice(next.start, next.end))) {
          head = { start: block.start, end: next.end };
          return;
        }
        parts.push({ ...rangeOf(block), kind: 'row', sentences: [], number: null, head });
      } else if (block.kind === 'code') {
        parts.push({ ...rangeOf(block), kind: 'code', sentences: [], number: null, head: null });
      } else {
        parts.push(proseOf(text, block));
      }
    });
    return parts;
  },
);

function proseOf(text: string, block: Block): PassagePart {
  const prose = text.slice(block.content, block.end);
  // A tag that opens a line opens a sentence, too: what it says takes nothing of the line before along.
  const sentences = sentencesIn(prose.replace(/(?<![.!?])\n|\n(?!<)/g, ' ')).map(({ start, end }) => ({
    start: block.content + start,
    end: block.content + end,
  }));
  const item = ITEM.exec(text.slice(block.start, block.end));
  const isLabel =
    block.kind === 'heading' ||
    (item === null &&
      prose.trim().split(/\s+/).length <= MOST_LABEL_WORDS &&
      !ENDS_SENTENCE.test(prose.trim()));
  return {
    ...rangeOf(block),
    kind: item !== null ? 'item' : isLabel ? 'label' : 'paragraph',
    sentences,
    number: item?.[1] === undefined ? null : Number(item[1]),
    head: null,
  };
}

/** Everything in a passage that can stand as an answer, in order. */
export function passageUnits(
  text: string,
  parts: readonly PassagePart[] = passageParts(text),
): PassageUnit[] {
  const units: PassageUnit[] = [];
  parts.forEach((part, index) => {
    const own = { from: index, to: index };
    switch (part.kind) {
      case 'label':
        break;
      case 'row':
        units.push({ ...rangeOf(part), kind: 'row', leadIn: part.head, parts: own });
        break;
      case 'code':
        units.push({
          ...rangeOf(part),
          kind: 'code',
          leadIn: introductionOf(text, parts, index),
          parts: own,
        });
        break;
      case 'item': {
        const steps = stepsFrom(parts, index);
        const leadIn = introductionOf(text, parts, index);
        if (steps !== null) {
          const end = parts[steps]?.end ?? part.end;
          units.push({ start: part.start, end, kind: 'steps', leadIn, parts: { from: index, to: steps } });
        }
        units.push({ ...spanOf(part), kind: 'item', leadIn, parts: own });
        break;
      }
      case 'paragraph': {
        const label = parts[index - 1]?.kind === 'label' ? rangeOf(parts[index - 1] as Range) : null;
        part.sentences.forEach((sentence, at) => {
          const before = at > 0 ? part.sentences[at - 1] : parts[index - 1]?.sentences.at(-1);
          const refersBack = REFERS_BACK.test(text.slice(sentence.start, sentence.end));
          const isDefinition = at === 0 && label !== null;
          units.push({
            ...sentence,
            kind: isDefinition ? 'definition' : 'sentence',
            leadIn: isDefinition ? label : refersBack ? (before ?? null) : null,
            parts: own,
          });
        });
      }
    }
  });
  return units;
}

/** The last item of the numbered list that begins here; null if none does, or it ends at once. */
function stepsFrom(parts: readonly PassagePart[], index: number): number | null {
  const first = parts[index]?.number ?? null;
  if (first === null) return null;
  for (let at = index - 1; at >= 0; at -= 1) {
    const before = parts[at];
    if (before?.kind === 'item' && before.number === first - 1) return null;
    if (before?.kind === 'paragraph') break;
  }
  let last: number | null = null;
  let number = first;
  for (let at = index + 1; at < parts.length; at += 1) {
    const part = parts[at];
    if (part?.number === number + 1) {
      number += 1;
      last = at;
    } else if (part?.kind === 'paragraph' || part?.kind === 'row') break;
    else if (last === at - 1 && part?.kind === 'code') last = at;
  }
  return last;
}

/** What leads in to code or to a list: the last sentence before it, past labels, earlier code and other items. */
function introductionOf(text: string, parts: readonly PassagePart[], index: number): Range | null {
  const ofCode = parts[index]?.kind === 'code';
  for (let at = index - 1; at >= 0; at -= 1) {
    const before = parts[at];
    if (before === undefined || before.kind === 'row') return null;
    if (before.kind === 'code' && !ofCode) continue;
    if (before.kind === 'code') return null;
    if (before.kind === 'label') {
      const next = parts[at - 1];
      const introduces =
        next?.kind === 'paragraph' && text.slice(next.start, next.end).trimEnd().endsWith(':');
      return introduces ? (next.sentences.at(-1) ?? null) : rangeOf(before);
    }
    if (before.kind === 'item' && !ofCode) continue;
    return before.sentences.at(-1) ?? null;
  }
  return null;
}

function spanOf({ start, end, sentences }: PassagePart): Range {
  return { start: sentences[0]?.start ?? start, end: sentences.at(-1)?.end ?? end };
}

function rangeOf({ start, end }: Range): Range {
  return { start, end };
}

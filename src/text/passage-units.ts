import { findMarkdownBlocks, type MarkdownBlock, type TextRange } from './markdown-blocks.ts';
import { memoize } from './memoize.ts';
import { splitPlainSentences } from './split-sentences.ts';

export type UnitKind = 'sentence' | 'item' | 'steps' | 'row' | 'code' | 'definition';

/** A part of a passage that can be an answer on its own. Ranges are offsets in the passage. */
export interface PassageUnit extends TextRange {
  kind: UnitKind;
  /** The sentence before code or a list, the header of a row, or the sentence that it refers back to. */
  leadIn: TextRange | null;
  /** Its first and its last part. */
  parts: { from: number; to: number };
}

/** A block of a passage. */
export interface PassagePart extends TextRange {
  kind: 'paragraph' | 'label' | 'item' | 'row' | 'code';
  /** Empty for rows and code. */
  sentences: TextRange[];
  /** The number of an item in a numbered list, else null. */
  number: number | null;
  /** For a row, the header of its table with the rule below it. */
  head: TextRange | null;
}

/** Starts a sentence that refers to the one before. */
const REFERS_BACK =
  /^(?:it|its|this|that|these|those|they|their|he|she|such|both|however|therefore|thus|instead|otherwise|also|then|here|there|similarly|alternatively|additionally|for example|e\.g\.)\b/i;
const ITEM = /^(?:[ \t]|>)*(?:[-*+•]|(\d{1,9})[.)])[ \t]+/;
const TABLE_RULE = /^[ \t]*\|(?:[ \t]*:?-{2,}:?[ \t]*\|?)+[ \t]*$/;
/** A line of at most so many words without punctuation at the end names what follows. */
const MOST_LABEL_WORDS = 8;
const ENDS_SENTENCE = /[.!?。！？:;]["'”’)\]*_]*$/;

/** The parts of a passage in order. A heading is a label; so is a file name above code. */
export const splitPassageParts = memoize({ size: 64 }, (text: string): readonly PassagePart[] => {
  const blocks = findMarkdownBlocks(text);
  const parts: PassagePart[] = [];
  let head: TextRange | null = null;
  blocks.forEach((block, index) => {
    const written = text.slice(block.start, block.end);
    const isRow = block.kind === 'text' && written.trimStart().startsWith('|');
    if (!isRow) head = null;
    if (!isRow && block.kind !== 'code') {
      parts.push(proseOf(text, block));
      return;
    }
    const next = blocks[index + 1];
    if (isRow && TABLE_RULE.test(written)) return;
    if (isRow && next !== undefined && TABLE_RULE.test(text.slice(next.start, next.end)))
      head = { start: block.start, end: next.end };
    else parts.push({ ...rangeOf(block), kind: isRow ? 'row' : 'code', sentences: [], number: null, head });
  });
  return parts;
});

function proseOf(text: string, block: MarkdownBlock): PassagePart {
  const prose = text.slice(block.content, block.end);
  // A tag at the start of a line starts a sentence.
  const sentences = splitPlainSentences(prose.replace(/(?<![.!?])\n|\n(?!<)/g, ' ')).map(
    ({ start, end }) => ({
      start: block.content + start,
      end: block.content + end,
    }),
  );
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

/** The units of a passage in order. */
export function splitPassageUnits(text: string): PassageUnit[] {
  const parts = splitPassageParts(text);
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
        units.push({ ...rangeOf(part), kind: 'code', leadIn: findLeadIn(text, parts, index), parts: own });
        break;
      case 'item': {
        const steps = findLastStep(parts, index);
        const leadIn = findLeadIn(text, parts, index);
        if (steps !== null) {
          const lastEnd = parts[steps]?.end ?? part.end;
          units.push({
            start: part.start,
            end: lastEnd,
            kind: 'steps',
            leadIn,
            parts: { from: index, to: steps },
          });
        }
        const start = part.sentences[0]?.start ?? part.start;
        const end = part.sentences.at(-1)?.end ?? part.end;
        units.push({ start, end, kind: 'item', leadIn, parts: own });
        break;
      }
      case 'paragraph': {
        const label = parts[index - 1]?.kind === 'label' ? rangeOf(parts[index - 1] as TextRange) : null;
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

/** The index of the last item of the numbered list that starts here; null if no list of several items does. */
function findLastStep(parts: readonly PassagePart[], index: number): number | null {
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

/** The sentence that introduces code or a list: the last one before it, past labels, code and other items. */
function findLeadIn(text: string, parts: readonly PassagePart[], index: number): TextRange | null {
  const ofCode = parts[index]?.kind === 'code';
  for (let at = index - 1; at >= 0; at -= 1) {
    const before = parts[at];
    if (before === undefined || before.kind === 'row') return null;
    if ((before.kind === 'code' || before.kind === 'item') && !ofCode) continue;
    if (before.kind === 'code') return null;
    if (before.kind === 'label') {
      const next = parts[at - 1];
      const introduces =
        next?.kind === 'paragraph' && text.slice(next.start, next.end).trimEnd().endsWith(':');
      return introduces ? (next.sentences.at(-1) ?? null) : rangeOf(before);
    }
    return before.sentences.at(-1) ?? null;
  }
  return null;
}

function rangeOf({ start, end }: TextRange): TextRange {
  return { start, end };
}

import { findMarkdownBlocks, type MarkdownBlock, type TextRange } from './markdown-blocks.ts';
import { memoize } from './memoize.ts';
import { splitPlainSentences } from './split-sentences.ts';

/** A block of a passage. */
export interface PassagePart extends TextRange {
  kind: 'paragraph' | 'label' | 'item' | 'row' | 'code';
  /** Empty for rows and code. */
  sentences: TextRange[];

  /** For a row, the header of its table with the rule below it. */
  head: TextRange | null;
}

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
    else parts.push({ ...rangeOf(block), kind: isRow ? 'row' : 'code', sentences: [], head });
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
    head: null,
  };
}

function rangeOf({ start, end }: TextRange): TextRange {
  return { start, end };
}

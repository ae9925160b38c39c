import { sentencesIn } from '../../text/split-sentences.ts';
import type { Passage } from './read-request.ts';

/** Something of a passage that an answer could quote. */
export interface Candidate {
  /** Word for word, but for the bars of a table, which become punctuation. */
  text: string;
  kind: 'sentence' | 'row' | 'code';
  /** What it is judged by: a row with the head of its table, a line of code with what leads in to it. */
  compared: string;
  /** What stands before a row or a line of code and says what it is; word for word too. */
  leadIn: string | null;
  ref: string;
  /** The place of its passage among the results, from 0, and its own place in the passage. */
  passage: number;
  position: number;
}

type Quotable = Pick<Candidate, 'text' | 'kind' | 'compared' | 'leadIn'>;

const LIST_MARKER = /^(?:[-*+•]|\d+[.)])\s+/;
const CODE = /(```[\s\S]*?(?:```|$))/;
const BLOCK_END = /\n{2,}|\n(?=\s*(?:[-*+•]|\d+[.)])\s)|\n(?=\|)|(?<=\|)\n/;
const MIN_WORDS = 4;
const MAX_WORDS = 60;
const MAX_CODE_LINE = 160;
const COMMENT = /^(?:#|\/\/)\s*(\p{L}.{8,})$/u;
/** Addresses, links and bracketed numbers would be taken for citations of the answer. */
const CITES = /https?:\/\/|\]\(|\[\^?\d+\]/;
/** Speaks to a model instead of saying something about the subject. One who writes about such text quotes it. */
const COMMANDS_THE_MODEL =
  /^(?:(?:system|assistant|ai|model|note to (?:the )?(?:ai|assistant|model))\s*:|(?:please |now |then )?(?:ignore|disregard|forget|override) (?:all|any|the|your|these|previous|prior|earlier)\b.*\b(?:instructions?|rules|prompts?|commands?|messages?|documents?)\b|you are now\b|from now on,? (?:you|answer|always|reply)\b)/i;
/** Code that lost its fence. */
const CODE_LIKE = /[{}]|=>/;

/**
 * What passages hold that reads well on its own, in their order: no headings, no fragments. Where that is
 * nothing, whole lines that are no sentences will do.
 */
export function candidateSentences(passages: readonly Passage[]): Candidate[] {
  const sentences = candidatesIn(passages, quotablesOf);
  return sentences.length > 0 ? sentences : candidatesIn(passages, wholeLinesOf);
}

function candidatesIn(passages: readonly Passage[], read: (text: string) => Quotable[]): Candidate[] {
  return passages.flatMap((passage, index) =>
    read(passage.text).map((quotable, position) => ({
      ...quotable,
      ref: passage.ref,
      passage: index,
      position,
    })),
  );
}

function quotablesOf(text: string): Quotable[] {
  const quotables: Quotable[] = [];
  let leadIn: string | null = null;
  for (const part of text.split(CODE)) {
    if (part.startsWith('```')) {
      quotables.push(...codeLines(part, leadIn));
      leadIn = null;
      continue;
    }
    let head: string[] | null = null;
    const blocks = part.split(BLOCK_END).map((block) => block.trim());
    for (const [index, block] of blocks.entries()) {
      if (block.startsWith('|')) {
        if (isRule(blocks[index + 1] ?? '')) head = cellsOf(block);
        else if (!isRule(block)) quotables.push(...rowOf(block, head));
        continue;
      }
      head = null;
      if (block === '') continue;
      const sentences = sentencesOf(block.replace(LIST_MARKER, ''));
      for (const sentence of sentences.filter(readsWell))
        quotables.push({ text: sentence, kind: 'sentence', compared: sentence, leadIn: null });
      leadIn = sentences.at(-1) ?? null;
    }
  }
  return quotables;
}

function wholeLinesOf(text: string): Quotable[] {
  return text
    .split(CODE)
    .filter((part) => !part.startsWith('```'))
    .flatMap((part) => part.split('\n').slice(0, -1))
    .map((line) => line.trim().replace(LIST_MARKER, ''))
    .filter((line) => isQuotable(line) && !/[?:|]$/.test(line))
    .map((line) => ({ text: line, kind: 'sentence', compared: line, leadIn: null }));
}

function sentencesOf(block: string): string[] {
  const prose = block.replace(/\s+/g, ' ');
  return sentencesIn(prose).map(({ start, end }) => prose.slice(start, end));
}

/** A row that the end of the passage cut through is left out. */
function rowOf(block: string, head: readonly string[] | null): Quotable[] {
  const cells = cellsOf(block);
  if (!block.endsWith('|') || cells.length < 2 || cells.every((cell) => cell === '')) return [];
  if (CITES.test(block) || cells.some((cell) => COMMANDS_THE_MODEL.test(cell))) return [];
  const compared = cells.map((cell, column) => `${head?.[column] ?? ''} ${cell}`.trim()).join(', ');
  return [{ text: line(cells), kind: 'row', compared, leadIn: head === null ? null : line(head) }];
}

function isRule(block: string): boolean {
  return /^\|(?: *:?-{3,}:? *\|)+$/.test(block);
}

function cellsOf(block: string): string[] {
  return block
    .replace(/^\|\s*|\s*\|$/g, '')
    .split(/\s*(?<!\\)\|\s*/)
    .map((cell) => cell.replaceAll('\\|', '|'));
}

function line([first = '', ...others]: readonly string[]): string {
  return `${first}: ${others.filter((cell) => cell !== '').join('; ')}`;
}

/**
 * A line of code only with what leads in to it, the comment above it or else the sentence before the code; without
 * one nobody could tell what it is for.
 */
function codeLines(block: string, leadIn: string | null): Quotable[] {
  if (leadIn === null || CITES.test(leadIn)) return [];
  const lines = block.split('\n').slice(1);
  // What the passage ends in may be half a line.
  const whole = block.endsWith('```') ? lines : lines.slice(0, -1);
  const quotables: Quotable[] = [];
  let comment: string | null = null;
  for (const line of whole.map((text) => text.trim())) {
    const remark = COMMENT.exec(line)?.[1] ?? null;
    if (remark === null && isCode(line)) {
      const compared = `${leadIn} ${comment ?? ''} ${line}`;
      quotables.push({ text: `\`${line}\``, kind: 'code', compared, leadIn: comment ?? leadIn });
    }
    comment = remark !== null && !CITES.test(remark) ? remark : null;
  }
  return quotables;
}

function isCode(line: string): boolean {
  return /\p{L}{2}/u.test(line) && !line.includes('`') && !CITES.test(line) && line.length <= MAX_CODE_LINE;
}

/** Scripts that are written without spaces have about two characters a word. */
function wordCount(sentence: string): number {
  const unspaced = sentence.match(/[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}]/gu)?.length ?? 0;
  return sentence.split(' ').length + unspaced / 2;
}

function readsWell(sentence: string): boolean {
  return isQuotable(sentence) && /[.!。！]["”')」]?$/.test(sentence);
}

function isQuotable(text: string): boolean {
  const words = wordCount(text);
  return (
    words >= MIN_WORDS &&
    words <= MAX_WORDS &&
    !CITES.test(text) &&
    !CODE_LIKE.test(text) &&
    !COMMANDS_THE_MODEL.test(text) &&
    /^["“'(「]?[\p{L}\p{N}_]/u.test(text)
  );
}

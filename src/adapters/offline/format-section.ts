import { findCodeSpans } from '../../text/markdown-blocks.ts';
import type { OfflinePassage } from './parse-model-request.ts';
import { type SectionPart, textOfPart } from './select-section.ts';

/** A sentence that gives instructions to a model. Such sentences are not quoted. */
const MODEL_INSTRUCTION =
  /^\W*(?:(?:system|assistant|ai|model|note to (?:the )?(?:ai|assistant|model))\s*:|(?:please |now |then )?(?:ignore|disregard|forget|override) (?:all|any|the|your|these|previous|prior|earlier)\b.*\b(?:instructions?|rules|prompts?|commands?|messages?|documents?)\b|you are now\b|from now on,? (?:you|answer|always|reply)\b)/im;
/** The tags around the passages of a prompt. */
const SOURCE_TAG = /<\/?source\b/i;
/** Written as code, since Markdown would change some of its characters. */
const ADDRESS_END = /[^\s)\]>"']*[^\s)\]>"'.,;:!?]/.source;
const ADDRESS = `https?://(?:\\[[\\da-f:]+\\](?:${ADDRESS_END})?|${ADDRESS_END})`;
/** A word; written as code if Markdown would change it: `**kwargs`, `__init__`, `<div>`, `[1]`. */
const WORD = /[^\s"'“”‘’(),;:!?](?:[^\s"“”]*[^\s"'“”‘’(),;:!?.])?(?:\(\))?/.source;
/** As in `[1, 3]`, which would be taken for citations. */
const NUMBER_LIST = /[\w.\])]*\[\^?\d+(?:\s*[,;–-]\s*\^?\d+)+\]/.source;
const CODE_OR_WORD = new RegExp(`(${ADDRESS}|${NUMBER_LIST})|${WORD}`, 'gi');
const HAS_MARKUP = /\[\^?\d+\]|\*|~~|<[a-z/!]|\\[!-/:-@[-`{-~]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/iu;
/** Markdown leaves these unchanged. */
const ONLY_MARKUP = /^[*_]+$/;
const LINK = /\[([^\]\n]*)\]\(([^)\s]*)[^)]*\)/g;

/** Quotes a section below its heading path. A marker follows every sentence and table, so that each is checked. */
export function formatSection(parts: readonly SectionPart[]): string {
  const [first] = parts;
  if (first === undefined) return '';
  const { passage } = first;
  const quoted = passage.isAttached ? formatAttached(passage) : formatParts(parts);
  return quoted === '' ? '' : `### ${formatPath(passage)}\n\n${quoted}`;
}

function formatPath({ title, headings }: OfflinePassage): string {
  const path = [title, ...headings.filter((heading) => heading !== title)];
  return path.filter((part) => part !== '').join(' › ');
}

/** Attached text is fenced, since it is usually a log or code. */
function formatAttached({ text, ref }: OfflinePassage): string {
  const fence = '`'.repeat(Math.max(3, ...(text.match(/`+/g) ?? []).map((run) => run.length + 1)));
  const lines = text.split('\n').filter((line) => !isModelInstruction(line));
  return [fence, ...lines, fence, '', `[${ref}]`].join('\n');
}

function formatParts(parts: readonly SectionPart[]): string {
  const written: string[] = [];
  parts.filter(isQuotable).forEach((part, index, shown) => {
    const { passage, kind } = part;
    const [before, next] = [shown[index - 1], shown[index + 1]];
    const marker = `[${passage.ref}]`;
    const opens = before !== undefined && opensHeading(before.passage, passage);
    if (opens) written.push(`#### ${passage.headings.at(-1)}`);
    /** Adds a line to the list or table before it, or starts another one. `omitted` stands for lines between them. */
    const addLine = (line: string, isSame: boolean, omitted: string) => {
      const isGap = before?.passage === passage && passage.text.slice(before.end, part.start).trim() !== '';
      if (isSame && !opens) written[written.length - 1] += `\n${isGap ? `${omitted}\n` : ''}${line}`;
      else written.push(line);
    };
    switch (kind) {
      case 'label':
        written.push(toQuotedProse(textOfPart(part).replace(/^[#\s]+/, '')));
        break;
      case 'code':
        // A marker cannot be inside a fence: the line above is cited instead, or else a line below the code.
        written.push(textOfPart(part));
        if (before?.passage !== passage || before.kind === 'label' || before.kind === 'code')
          written.push(marker);
        break;
      case 'row': {
        const { head } = part;
        const isSame =
          before?.kind === 'row' && before.passage === passage && before.head?.start === head?.start;
        const above = isSame || head === null ? '' : `${passage.text.slice(head.start, head.end)}\n`;
        addLine(`${above}${textOfPart(part)}`, isSame, '| … |');
        if (next?.kind !== 'row' || next.passage !== passage) written.push(marker);
        break;
      }
      case 'item': {
        const bullet = /^\s*(?:[-*+•]|\d{1,9}[.)])\s+/.exec(textOfPart(part))?.[0].trimStart() ?? '';
        addLine(`${bullet}${quoteSentences(part)}`, before?.kind === 'item', '- …');
        break;
      }
      case 'paragraph':
        written.push(quoteSentences(part));
    }
  });
  return written.join('\n\n');
}

function isQuotable(part: SectionPart): boolean {
  return part.sentences.length === 0 ? !isModelInstruction(textOfPart(part)) : quoteSentences(part) !== '';
}

function quoteSentences({ passage, sentences }: SectionPart): string {
  return sentences
    .map(({ start, end }) => passage.text.slice(start, end))
    .filter((sentence) => !isModelInstruction(sentence))
    .map((sentence) => `${toQuotedProse(sentence)} [${passage.ref}]`)
    .join(' ');
}

/** Whether a passage is below a heading that the one before it is not below. */
function opensHeading(before: OfflinePassage, { headings }: OfflinePassage): boolean {
  return headings.some((heading, depth) => heading !== before.headings[depth]);
}

function isModelInstruction(text: string): boolean {
  return MODEL_INSTRUCTION.test(text) || SOURCE_TAG.test(text);
}

/** Prose as Markdown that shows the same characters. Code stays code. */
function toQuotedProse(prose: string): string {
  const line = prose.replace(/\s+/g, ' ').replace(LINK, '$1 ($2)');
  const plain = (from: number, to?: number) =>
    line
      .slice(from, to)
      .replace(CODE_OR_WORD, (word, code?: string) =>
        isShownAsCode(word, code !== undefined) ? `\`${word}\`` : word.replaceAll('`', '\\`'),
      );
  let quoted = '';
  let at = 0;
  for (const { start, end } of findCodeSpans(line, { start: 0, end: line.length })) {
    quoted += plain(at, start) + line.slice(start, end);
    at = end;
  }
  return quoted + plain(at);
}

function isShownAsCode(word: string, isCode: boolean): boolean {
  if (word.includes('`') || ONLY_MARKUP.test(word)) return false;
  return isCode || HAS_MARKUP.test(word);
}

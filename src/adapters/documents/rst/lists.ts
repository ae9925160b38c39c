import type { List, ListItem } from 'mdast';
import { renderSingleLine } from '../render-inline.ts';
import { prependTitle } from '../render-tree.ts';
import {
  indentWidth,
  isBlankLine,
  type RstContext,
  type RstReader,
  type RstReadResult,
  readIndentedLines,
  skipBlankLines,
} from './blocks.ts';

const BULLET = /^[-*+•‣⁃](?:\s+|$)/;
const ENUMERATOR = /^\(?(\d+|[a-z]|[ivxlcdm]+|#)[.)](?:\s+|$)/i;
const FIELD = /^:(?![: ])((?:[^:\\]|\\.|:(?![ `]|$))*)(?<! ):(?:\s+|$)/;

export const readBulletList: RstReader = (lines, index, context) =>
  readItems(lines, index, context, (at) => matchMarker(BULLET, lines[at], () => ''));

/** Numbers, letters or `#`. A paragraph that starts like "A. Name" has no indented second line. */
export const readEnumeratedList: RstReader = (lines, index, context) => {
  const enumerator = (at: number) => ENUMERATOR.exec(lines[at] ?? '')?.[1];
  const kind = enumeratorKind(enumerator(index));
  const start = Number.parseInt(enumerator(index) ?? '', 10);
  const itemAt = (at: number) => {
    const second = lines[at + 1] ?? '';
    const isItem = isBlankLine(second) || indentWidth(second) > 0 || ENUMERATOR.test(second);
    if (!isItem || enumeratorKind(enumerator(at)) !== kind) return null;
    return matchMarker(ENUMERATOR, lines[at], () => '');
  };
  return readItems(lines, index, context, itemAt, Number.isNaN(start) ? 1 : start);
};

/** `:name: body` as items of `name: body`. */
export const readFieldList: RstReader = (lines, index, context) =>
  readItems(lines, index, context, (at) =>
    matchMarker(FIELD, lines[at], (match) => renderSingleLine(context.inline(match[1] ?? ''))),
  );

/** Terms, each with its indented definition on the next lines. */
export const readDefinitionList: RstReader = (lines, index, context) =>
  readItems(lines, index, context, (at) =>
    isTerm(lines, at) ? { title: renderSingleLine(context.inline(lines[at] ?? '')), firstLine: '' } : null,
  );

function isTerm(lines: readonly string[], index: number): boolean {
  const [term = '', definition = ''] = lines.slice(index, index + 2);
  return (
    !isBlankLine(term) &&
    indentWidth(term) === 0 &&
    !isBlankLine(definition) &&
    indentWidth(definition) > 0 &&
    !/^\.\.(\s|$)/.test(term) &&
    !term.trimEnd().endsWith('::')
  );
}

interface RstListItem {
  title: string;
  /** The part of the body on the line of the marker. */
  firstLine: string;
}

function matchMarker(
  marker: RegExp,
  line: string | undefined,
  title: (match: RegExpExecArray) => string,
): RstListItem | null {
  const match = marker.exec(line ?? '');
  return match && { title: title(match), firstLine: line?.slice(match[0].length) ?? '' };
}

/** Reads items with their indented lines while `itemAt` finds one. */
function readItems(
  lines: readonly string[],
  index: number,
  context: RstContext,
  itemAt: (index: number) => RstListItem | null,
  start?: number,
): RstReadResult | null {
  const items: ListItem[] = [];
  let next = index;
  for (let item = itemAt(next); item !== null; item = itemAt(next)) {
    const { block, next: end } = readIndentedLines(lines, next + 1);
    const body = context.body([item.firstLine, ...block]);
    // A value such as `|version|` may be unknown.
    const [only] = body.length === 1 ? body : [];
    const isLost = only?.type === 'paragraph' && renderSingleLine(only.children) === '';
    if (!isLost) items.push({ type: 'listItem', children: prependTitle(item.title, body) });
    next = skipBlankLines(lines, end);
  }
  if (next === index) return null;
  const list: List = { type: 'list', ordered: start !== undefined, start: start ?? null, children: items };
  return { nodes: [list], next };
}

function enumeratorKind(enumerator: string | undefined): 'number' | 'letter' | 'automatic' | null {
  if (enumerator === undefined) return null;
  if (enumerator === '#') return 'automatic';
  return /\d/.test(enumerator) ? 'number' : 'letter';
}

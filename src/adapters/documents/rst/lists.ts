import type { List, ListItem } from 'mdast';
import { withTitle } from '../render-tree.ts';
import {
  type Context,
  type Flow,
  indentOf,
  isBlank,
  type Read,
  type Reader,
  skipBlank,
  takeIndented,
} from './blocks.ts';

const BULLET = /^[-*+•‣⁃](?:\s+|$)/;
const ENUMERATOR = /^\(?(\d+|[a-z]|[ivxlcdm]+|#)[.)](?:\s+|$)/i;
const FIELD = /^:(?![: ])((?:[^:\\]|\\.|:(?![ `]|$))*)(?<! ):(?:\s+|$)/;
const OPTION =
  /^(?:(?:-[\w?]|--[a-zA-Z][\w-]*|\/[A-Z])(?:[ =]?(?:<[^<>]+>|[A-Z][\w-]*))?(?:, )?)+(?: {2,}|$)/;

/** Bullets; every line of an item after its first is indented. */
export const readBullets: Reader = (lines, index, context) =>
  readItems(lines, index, (at) => BULLET.exec(lines[at] ?? ''), bodyOf(context));

/** Numbers, letters or `#`; a paragraph that only happens to begin with "A. Name" has no indented second line. */
export const readEnumeration: Reader = (lines, index, context) => {
  const kind = kindOf(ENUMERATOR.exec(lines[index] ?? '')?.[1]);
  const enumeratorAt = (at: number): RegExpExecArray | null => {
    const match = ENUMERATOR.exec(lines[at] ?? '');
    const second = lines[at + 1] ?? '';
    const isItem = isBlank(second) || indentOf(second) > 0 || ENUMERATOR.test(second);
    return isItem && kindOf(match?.[1]) === kind ? match : null;
  };
  const start = Number.parseInt(enumeratorAt(index)?.[1] ?? '', 10);
  return readItems(lines, index, enumeratorAt, bodyOf(context), Number.isNaN(start) ? 1 : start);
};

/** `:name: body` as items of `name: body`. */
export const readFields: Reader = (lines, index, context) =>
  readItems(
    lines,
    index,
    (at) => FIELD.exec(lines[at] ?? ''),
    titledBy((match) => match[1] ?? '', context),
  );

/** `-o FILE, --output FILE  What it does` as items. */
export const readOptions: Reader = (lines, index, context) =>
  readItems(
    lines,
    index,
    (at) => OPTION.exec(lines[at] ?? ''),
    titledBy((match) => match[0].trim(), context),
  );

/** A term on one line, and what it means indented under it. */
export const readDefinitions: Reader = (lines, index, context) => {
  const items: ListItem[] = [];
  let next = index;
  while (isTerm(lines, next)) {
    const { block, next: end } = takeIndented(lines, next + 1);
    const [term = ''] = lines.slice(next, next + 1);
    items.push(item(withTitle(plainText(context, term), context.body(block))));
    next = skipBlank(lines, end);
  }
  return items.length === 0 ? null : { nodes: [{ type: 'list', ordered: false, children: items }], next };
};

function isTerm(lines: readonly string[], index: number): boolean {
  const [term = '', definition = ''] = lines.slice(index, index + 2);
  return (
    !isBlank(term) &&
    indentOf(term) === 0 &&
    !isBlank(definition) &&
    indentOf(definition) > 0 &&
    !/^\.\.(\s|$)/.test(term) &&
    !term.trimEnd().endsWith('::')
  );
}

type ToContent = (match: RegExpExecArray, body: string[]) => Flow[];

function bodyOf(context: Context): ToContent {
  return (_, body) => context.body(body);
}

function titledBy(title: (match: RegExpExecArray) => string, context: Context): ToContent {
  return (match, body) => withTitle(title(match), context.body(body));
}

/** Items as long as `markerAt` finds a marker; the rest of its line and the lines indented under it are the body. */
function readItems(
  lines: readonly string[],
  index: number,
  markerAt: (index: number) => RegExpExecArray | null,
  toContent: ToContent,
  start?: number,
): Read | null {
  const items: ListItem[] = [];
  let next = index;
  for (let match = markerAt(next); match !== null; match = markerAt(next)) {
    const { block, next: end } = takeIndented(lines, next + 1);
    items.push(item(toContent(match, [lines[next]?.slice(match[0].length) ?? '', ...block])));
    next = skipBlank(lines, end);
  }
  if (items.length === 0) return null;
  const list: List = { type: 'list', ordered: start !== undefined, start: start ?? null, children: items };
  return { nodes: [list], next };
}

function kindOf(enumerator: string | undefined): 'number' | 'letter' | 'automatic' | null {
  if (enumerator === undefined) return null;
  if (enumerator === '#') return 'automatic';
  return /\d/.test(enumerator) ? 'number' : 'letter';
}

function item(children: Flow[]): ListItem {
  return { type: 'listItem', children };
}

function plainText(context: Context, text: string): string {
  return context
    .inline(text)
    .map((node) => ('value' in node ? node.value : ''))
    .join('');
}

import type { List, ListItem } from 'mdast';
import { prependTitle } from '../render-tree.ts';
import {
  type FlowNode,
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
const OPTION =
  /^(?:(?:-[\w?]|--[a-zA-Z][\w-]*|\/[A-Z])(?:[ =]?(?:<[^<>]+>|[A-Z][\w-]*))?(?:, )?)+(?: {2,}|$)/;

export const readBulletList: RstReader = (lines, index, context) =>
  readItems(lines, index, (at) => BULLET.exec(lines[at] ?? ''), nestedBody(context));

/** Numbers, letters or `#`. A paragraph that starts like "A. Name" has no indented second line. */
export const readEnumeratedList: RstReader = (lines, index, context) => {
  const kind = enumeratorKind(ENUMERATOR.exec(lines[index] ?? '')?.[1]);
  const enumeratorAt = (at: number): RegExpExecArray | null => {
    const match = ENUMERATOR.exec(lines[at] ?? '');
    const second = lines[at + 1] ?? '';
    const isItem = isBlankLine(second) || indentWidth(second) > 0 || ENUMERATOR.test(second);
    return isItem && enumeratorKind(match?.[1]) === kind ? match : null;
  };
  const start = Number.parseInt(enumeratorAt(index)?.[1] ?? '', 10);
  return readItems(lines, index, enumeratorAt, nestedBody(context), Number.isNaN(start) ? 1 : start);
};

/** `:name: body` as items of `name: body`. */
export const readFieldList: RstReader = (lines, index, context) =>
  readItems(
    lines,
    index,
    (at) => FIELD.exec(lines[at] ?? ''),
    titledBody((match) => match[1] ?? '', context),
  );

/** `-o FILE, --output FILE  Description` as items. */
export const readOptionList: RstReader = (lines, index, context) =>
  readItems(
    lines,
    index,
    (at) => OPTION.exec(lines[at] ?? ''),
    titledBody((match) => match[0].trim(), context),
  );

/** Terms, each with its indented definition on the next lines. */
export const readDefinitionList: RstReader = (lines, index, context) => {
  const items: ListItem[] = [];
  let next = index;
  while (isTerm(lines, next)) {
    const { block, next: end } = readIndentedLines(lines, next + 1);
    const [term = ''] = lines.slice(next, next + 1);
    items.push(createItem(prependTitle(plainText(context, term), context.body(block))));
    next = skipBlankLines(lines, end);
  }
  return items.length === 0 ? null : { nodes: [{ type: 'list', ordered: false, children: items }], next };
};

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

type ToContent = (match: RegExpExecArray, body: string[]) => FlowNode[];

function nestedBody(context: RstContext): ToContent {
  return (_, body) => context.body(body);
}

function titledBody(title: (match: RegExpExecArray) => string, context: RstContext): ToContent {
  return (match, body) => prependTitle(title(match), context.body(body));
}

/** Reads items while `markerAt` finds a marker. The body is the rest of its line and the indented lines below. */
function readItems(
  lines: readonly string[],
  index: number,
  markerAt: (index: number) => RegExpExecArray | null,
  toContent: ToContent,
  start?: number,
): RstReadResult | null {
  const items: ListItem[] = [];
  let next = index;
  for (let match = markerAt(next); match !== null; match = markerAt(next)) {
    const { block, next: end } = readIndentedLines(lines, next + 1);
    items.push(createItem(toContent(match, [lines[next]?.slice(match[0].length) ?? '', ...block])));
    next = skipBlankLines(lines, end);
  }
  if (items.length === 0) return null;
  const list: List = { type: 'list', ordered: start !== undefined, start: start ?? null, children: items };
  return { nodes: [list], next };
}

function enumeratorKind(enumerator: string | undefined): 'number' | 'letter' | 'automatic' | null {
  if (enumerator === undefined) return null;
  if (enumerator === '#') return 'automatic';
  return /\d/.test(enumerator) ? 'number' : 'letter';
}

function createItem(children: FlowNode[]): ListItem {
  return { type: 'listItem', children };
}

function plainText(context: RstContext, text: string): string {
  return context
    .inline(text)
    .map((node) => ('value' in node ? node.value : ''))
    .join('');
}

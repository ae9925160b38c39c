import type { Heading } from 'mdast';
import type { ParsedDocument } from '../../../domain/document.ts';
import { lineRange as linesAt } from '../../../domain/location.ts';
import { createIncludeReader, type IncludedFiles } from '../includes.ts';
import { toParsedDocument } from '../render-tree.ts';
import {
  dedentLines,
  type FlowNode,
  findTitleBelow,
  isBlankLine,
  type RstContext,
  type RstReader,
  readDoctest,
  readIndentedLines,
  readLineBlock,
  readParagraph,
  readQuote,
  readTitle,
  readTransition,
  skipBlankLines,
} from './blocks.ts';
import { readExplicitMarkup } from './directives.ts';
import { parseRstInline, type RstDefinitions } from './inline.ts';
import { readBulletList, readDefinitionList, readEnumeratedList, readFieldList } from './lists.ts';
import { readGridTable, readSimpleTable } from './tables.ts';

/** In order of precedence; the last reader accepts any line. */
const READERS: readonly RstReader[] = [
  readQuote,
  readExplicitMarkup,
  readGridTable,
  readSimpleTable,
  readTitle,
  readTransition,
  readBulletList,
  readEnumeratedList,
  readFieldList,
  readLineBlock,
  readDoctest,
  readDefinitionList,
  readParagraph,
];

/**
 * reStructuredText of docutils and Sphinx. Malformed markup is kept as text. A field list at the beginning is metadata, as
 * in Sphinx.
 */
export function parseRst(source: string, included: IncludedFiles = {}): ParsedDocument {
  const lines = source.split('\n').map((line) => line.replaceAll('\t', '        ').trimEnd());
  const { metadata, rest } = splitMetadata(lines);
  const includedLines = Object.keys(included).flatMap((path) => createIncludeReader(included)(path, ''));
  const context = createContext(collectDefinitions([source, ...includedLines].join('\n')), included);
  const children = parseBody(dedentLines(rest), context, lines.length - rest.length);
  const document = toParsedDocument({ type: 'root', children }, metadata);
  // A page that only shows documentation of source code has nothing to read here.
  const isTitle = document.blocks.length === 1 && document.blocks[0]?.kind === 'heading';
  return isTitle && /^\.\. auto\w+::/m.test(source) ? { ...document, text: '', blocks: [] } : document;
}

/** The blocks of a piece of reStructuredText, without locations. */
export function parseRstNodes(source: string): FlowNode[] {
  return parseBody(dedentLines(source.split('\n')), createContext(collectDefinitions(source)));
}

function createContext(definitions: RstDefinitions, included: IncludedFiles = {}): RstContext {
  const styles: string[] = [];
  const context: RstContext = {
    body: (lines) => parseBody(lines, context),
    inline: (text) => parseRstInline(text, definitions),
    include: createIncludeReader(included),
    headingDepth(style) {
      if (!styles.includes(style)) styles.push(style);
      return Math.min(6, styles.indexOf(style) + 1) as Heading['depth'];
    },
  };
  return context;
}

/** `linesBefore` is the number of lines before these in the document; without it nodes get no locations. */
function parseBody(lines: readonly string[], context: RstContext, linesBefore?: number): FlowNode[] {
  const nodes: FlowNode[] = [];
  for (let index = skipBlankLines(lines, 0); index < lines.length; index = skipBlankLines(lines, index)) {
    for (const reader of READERS) {
      const read = reader(lines, index, context);
      if (read === null) continue;
      for (const node of read.nodes) {
        if (linesBefore !== undefined) {
          const last = linesBefore + lastTextLine(lines, read.next);
          node.data = { ...node.data, location: linesAt(linesBefore + index + 1, last) };
        }
        nodes.push(node);
      }
      index = read.next;
      break;
    }
  }
  return nodes;
}

/** The number of the last line before `next` that is not blank. */
function lastTextLine(lines: readonly string[], next: number): number {
  let last = next;
  while (last > 1 && isBlankLine(lines[last - 1])) last -= 1;
  return last;
}

/** Collects targets and substitutions first, because they may be used before their definition. */
function collectDefinitions(source: string): RstDefinitions {
  // The settings of Sphinx define these.
  const substitutions = new Map(['version', 'release', 'today'].map((name) => [name, '']));
  const targets = new Map<string, { url: string; title: string }>();
  const markup =
    /^[ \t]*\.\. (?:_`?([^`\n]+?)`?:(?:[ \t]+(\S+)|\s|$)|\|([^|\n]+)\| (\w+)::[ \t]*(.*(?:\n[ \t]+\S.*)*))/gm;
  for (const match of source.matchAll(markup)) {
    const [written, target, url = '', name, directive, text = ''] = match;
    const below = source
      .slice(match.index + written.length)
      .slice(0, 1_000)
      .split('\n');
    if (target !== undefined) targets.set(target.toLowerCase(), { url, title: findTitleBelow(below, 0) });
    if (name === undefined) continue;
    substitutions.set(name.toLowerCase(), directive === 'replace' ? text : '');
  }
  return { substitutions, targets };
}

/** Separates the field list at the beginning from the other lines. */
function splitMetadata(lines: readonly string[]): { metadata: Record<string, string>; rest: string[] } {
  const fields = new Map<string, string>();
  let index = skipBlankLines(lines, 0);
  for (;;) {
    const [, key, value = ''] = /^:([\w][^:`]*):(?:\s+(.*))?$/.exec(lines[index] ?? '') ?? [];
    if (key === undefined) break;
    const { block, next } = readIndentedLines(lines, index + 1);
    fields.set(key, [value, ...block].join(' ').trim());
    index = next;
  }
  const given = [...fields].filter(([, value]) => value !== '');
  return { metadata: Object.fromEntries(given), rest: lines.slice(index) };
}

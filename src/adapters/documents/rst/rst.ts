import type { Heading, Root } from 'mdast';
import type { ParsedDocument } from '../../../domain/document.ts';
import { lines as linesAt } from '../../../domain/location.ts';
import { toDocument } from '../render-tree.ts';
import {
  type Context,
  dedent,
  type Flow,
  isBlank,
  type Reader,
  readDoctest,
  readLineBlock,
  readParagraph,
  readQuote,
  readTitle,
  readTransition,
  skipBlank,
  takeIndented,
} from './blocks.ts';
import { readExplicitMarkup } from './directives.ts';
import { type Definitions, readInline } from './inline.ts';
import { readBullets, readDefinitions, readEnumeration, readFields, readOptions } from './lists.ts';
import { readGridTable, readSimpleTable } from './tables.ts';

/** The order decides: the first reader that recognises a line takes it, and the last one takes any. */
const READERS: readonly Reader[] = [
  readQuote,
  readExplicitMarkup,
  readGridTable,
  readSimpleTable,
  readTitle,
  readTransition,
  readBullets,
  readEnumeration,
  readFields,
  readOptions,
  readLineBlock,
  readDoctest,
  readDefinitions,
  readParagraph,
];

/**
 * reStructuredText, as docutils and Sphinx write it. What is malformed is read as the text it contains.
 * A field list at the very beginning is metadata, as it is to Sphinx.
 */
export function parseRst(source: string): ParsedDocument {
  const lines = source.split('\n').map((line) => line.replaceAll('\t', '        ').trimEnd());
  const { metadata, rest } = takeMetadata(lines);
  const content = readBody(
    dedent(rest),
    createContext(readDefinitionsOf(source)),
    lines.length - rest.length,
  );
  const root: Root = { type: 'root', children: content };
  return toDocument(root, metadata);
}

function createContext(definitions: Definitions): Context {
  const styles: string[] = [];
  const context: Context = {
    body: (lines) => readBody(lines, context),
    inline: (text) => readInline(text, definitions),
    headingDepth(style) {
      if (!styles.includes(style)) styles.push(style);
      return Math.min(6, styles.indexOf(style) + 1) as Heading['depth'];
    },
  };
  return context;
}

/** `linesBefore` says how many lines of the document come before these; without it, what is read has no lines of its own. */
function readBody(lines: readonly string[], context: Context, linesBefore?: number): Flow[] {
  const nodes: Flow[] = [];
  for (let index = skipBlank(lines, 0); index < lines.length; index = skipBlank(lines, index)) {
    for (const reader of READERS) {
      const read = reader(lines, index, context);
      if (read === null) continue;
      for (const node of read.nodes) {
        if (linesBefore !== undefined) {
          node.data = {
            ...node.data,
            location: linesAt(linesBefore + index + 1, linesBefore + lastLine(lines, read.next)),
          };
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
function lastLine(lines: readonly string[], next: number): number {
  let last = next;
  while (last > 1 && isBlank(lines[last - 1])) last -= 1;
  return last;
}

/** Targets and substitutions may be used before they are defined, so they are collected first. */
function readDefinitionsOf(source: string): Definitions {
  const substitutions = new Map<string, string>();
  const targets = new Set<string>();
  const markup =
    /^[ \t]*\.\. (?:_`?([^`\n]+?)`?:(?:\s|$)|\|([^|\n]+)\| (\w+)::[ \t]*(.*(?:\n[ \t]+\S.*)*))/gm;
  for (const [, target, name, directive, text = ''] of source.matchAll(markup)) {
    if (target !== undefined) targets.add(target.toLowerCase());
    if (name === undefined) continue;
    substitutions.set(name.toLowerCase(), substitutionText(directive ?? '', text));
  }
  return { substitutions, targets };
}

function substitutionText(directive: string, text: string): string {
  if (directive === 'replace') return text;
  if (directive === 'image') return /:alt:[ \t]*(.*)/.exec(text)?.[1] ?? '';
  if (directive !== 'unicode') return '';
  const codes = [...text.matchAll(/(?:0x|x|U\+)([0-9a-f]{1,6})/gi)].map(([, code = '']) =>
    Number.parseInt(code, 16),
  );
  return codes.map((code) => (code <= 0x10ffff ? String.fromCodePoint(code) : '')).join('');
}

/** Takes the field list that opens a document off its lines. */
function takeMetadata(lines: readonly string[]): { metadata: Record<string, string>; rest: string[] } {
  const fields = new Map<string, string>();
  let index = skipBlank(lines, 0);
  for (;;) {
    const [, key, value = ''] = /^:([\w][^:`]*):(?:\s+(.*))?$/.exec(lines[index] ?? '') ?? [];
    if (key === undefined) break;
    const { block, next } = takeIndented(lines, index + 1);
    fields.set(key, [value, ...block].join(' ').trim());
    index = next;
  }
  const given = [...fields].filter(([, value]) => value !== '');
  return { metadata: Object.fromEntries(given), rest: lines.slice(index) };
}

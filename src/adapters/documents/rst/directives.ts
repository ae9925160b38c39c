import type { List } from 'mdast';
import papaparse from 'papaparse';
import { renderSingleLine } from '../render-inline.ts';
import { prependText, prependTitle } from '../render-tree.ts';
import {
  createCodeBlock,
  createParagraph,
  type FlowNode,
  findTitleBelow,
  isBlankLine,
  type RstContext,
  type RstReader,
  readIndentedLines,
} from './blocks.ts';
import { formatFootnoteMarker } from './inline.ts';
import { createTable } from './tables.ts';

interface Directive {
  name: string;
  /** The text after the name. */
  argument: string;
  options: Map<string, string>;
  content: string[];
}

const ADMONITION =
  /^(note|warning|tip|hint|important|caution|danger|error|attention|seealso|todo|info|success)$/;
const CODE =
  /^(code|code-block|sourcecode|parsed-literal|literal|math|doctest|testcode|testoutput|prompt|productionlist|ipython|console|highlight-block|code-cell)$/;
const CHANGE = /^(versionadded|versionchanged|deprecated|versionremoved|deprecated-removed)$/;

/** Directives without content for readers. */
const DROPPED =
  /^(contents|toctree|index|highlight|currentmodule|module|default-role|role|default-domain|sectnum|section-numbering|header|footer|meta|raw|tabularcolumns|target-notes|testsetup|testcleanup|autosummary|graphviz|digraph|plot|bibliography)$/;

/** Constructs that start with two dots: directives, footnotes, targets, substitutions and comments. */
export const readExplicitMarkup: RstReader = (lines, index, context) => {
  const line = lines[index] ?? '';
  if (/^__(\s|$)/.test(line)) return { nodes: [], next: index + 1 };
  if (!/^\.\.(\s|$)/.test(line)) return null;
  const { block, next } = readIndentedLines(lines, index + 1);
  const rest = line.slice(2).trim();

  const [, name, argument = ''] = /^([\w][\w.+:-]*?) ?::(?:\s+(.*))?$/.exec(rest) ?? [];
  // `.. setting:: name` and the like only mark the section below.
  const title = argument !== '' && block.every(isBlankLine) ? findTitleBelow(lines, next) : '';
  if (title !== '' && title.toLowerCase().includes(argument.toLowerCase())) return { nodes: [], next };
  if (name !== undefined) return { nodes: readDirective(name, argument, block, context), next };

  const [, label, text = ''] = /^\[([^\]\s]+)\](?:\s+(.*))?$/.exec(rest) ?? [];
  if (label !== undefined)
    return { nodes: prependText(`${formatFootnoteMarker(label)}: `, context.body([text, ...block])), next };

  // Targets and substitutions are collected by `collectDefinitions`; anything else is a comment.
  return { nodes: [], next };
};

/** The content of a directive; of an unknown one, its argument and body. */
export function readDirective(
  name: string,
  argument: string,
  block: readonly string[],
  context: RstContext,
): FlowNode[] {
  const directive = parseDirective(name.toLowerCase().replace(/^.*:/, ''), argument, block);
  const { name: kind, content, options } = directive;
  if (DROPPED.test(kind)) return [];
  if (kind === 'include' || kind === 'literalinclude') return includeFile(directive, context);
  // What these document is in the source code.
  if (kind === 'automodule' || (kind.startsWith('auto') && content.every(isBlankLine)))
    return context.body(content);
  if (CODE.test(kind)) return toCodeBlock(directive);
  if (ADMONITION.test(kind))
    return prependTitle(admonitionTitle(kind), context.body([...directive.argument.split('\n'), ...content]));
  if (CHANGE.test(kind)) {
    const [version = '', ...text] = directive.argument.split(/\s+/);
    return prependTitle(`${changeTitle(kind)} ${version}`.trim(), context.body([text.join(' '), ...content]));
  }
  if (kind === 'image' || kind === 'figure') {
    return [createParagraph([{ type: 'text', value: options.get('alt') ?? '' }]), ...context.body(content)];
  }
  if (kind === 'csv-table') {
    const rows = parseCsvRows([options.get('header') ?? '', ...content].join('\n').trim());
    return prependArgument(directive, [createTable(rows, context)], context);
  }
  if (kind === 'list-table') return prependArgument(directive, toListTable(context.body(content)), context);
  if (/^(admonition|topic|sidebar)$/.test(kind)) {
    return prependTitle(renderSingleLine(context.inline(directive.argument)), context.body(content));
  }
  return prependArgument(directive, context.body(content), context);
}

/** Options follow the argument without a blank line; the argument may have several lines. */
function parseDirective(name: string, firstLine: string, block: readonly string[]): Directive {
  const argument = [firstLine];
  const options = new Map<string, string>();
  let option: string | undefined;
  let index = 0;
  for (; index < block.length && !isBlankLine(block[index]); index += 1) {
    const line = block[index] ?? '';
    const [, key, value = ''] = /^:([\w-]+):(?:\s+(.*))?$/.exec(line) ?? [];
    if (key !== undefined) options.set(key, value);
    else if (option !== undefined) options.set(option, `${options.get(option) ?? ''} ${line.trim()}`);
    else if (CODE.test(name) || firstLine === '') break;
    else argument.push(line.trim());
    option = key ?? option;
  }
  return { name, argument: argument.join('\n').trim(), options, content: block.slice(index) };
}

function toCodeBlock({ name, argument, options, content }: Directive): FlowNode[] {
  const isLanguage = /^(code|code-block|code-cell|sourcecode|prompt)$/.test(name);
  const lines = isLanguage ? content : [argument, ...content];
  const value = lines.join('\n').replace(/^(?:[^\S\n]*\n)+|\s+$/g, '');
  const caption = options.get('caption') ?? '';
  const lang = isLanguage ? argument.split(/\s/)[0] : name === 'math' ? 'math' : null;
  return [createParagraph([{ type: 'text', value: caption }]), createCodeBlock(value, lang || null)];
}

/** An included file as blocks or as code. Its own includes become comments. */
function includeFile({ name, argument, options }: Directive, context: RstContext): FlowNode[] {
  const content = context.include?.(argument, options.get('lines')?.replaceAll('-', ':') ?? '') ?? [];
  if (name === 'include' && !options.has('code') && !options.has('literal'))
    return context.body(content.map((line) => line.replace(/^(\s*\.\. )(?:literal)?include::/, '$1')));
  const lang = options.get('language') ?? options.get('code') ?? /\w+$/.exec(argument)?.[0] ?? '';
  return content.length === 0 ? [] : toCodeBlock({ name: 'code', argument: lang, options, content });
}

/** Adds the argument as a paragraph: a caption, a rubric, a signature. */
function prependArgument({ argument }: Directive, content: FlowNode[], context: RstContext): FlowNode[] {
  const lines = argument.split('\n').filter((line) => !isBlankLine(line));
  return [...lines.map((line) => createParagraph(context.inline(line))), ...content];
}

/** Converts a list of rows, each a list of cells. */
function toListTable(content: FlowNode[]): FlowNode[] {
  const isList = (node: FlowNode): node is List => node.type === 'list';
  const rows = content.filter(isList).flatMap((list) => list.children);
  if (!rows.every((row) => row.children.length > 0 && row.children.every(isList))) return content;
  const cells = rows.map((row) => row.children.filter(isList).flatMap((list) => list.children));
  const texts = cells.map((row) => row.map((cell) => renderSingleLine(cell.children)));
  return [createTable(texts, { inline: (value) => [{ type: 'text', value }] })];
}

function admonitionTitle(kind: string): string {
  return kind === 'seealso' ? 'See also' : kind.charAt(0).toUpperCase() + kind.slice(1);
}

function changeTitle(kind: string): string {
  if (kind === 'versionadded') return 'Added in version';
  if (kind === 'versionchanged') return 'Changed in version';
  return kind === 'versionremoved' ? 'Removed in version' : 'Deprecated since version';
}

/** Rows of comma-separated values. Spaces before a quoted cell are allowed, as in docutils. */
function parseCsvRows(source: string): string[][] {
  const { data } = papaparse.parse<string[]>(source.replace(/(^|,)[^\S\n]+"/gm, '$1"'), { delimiter: ',' });
  return data.map((row) => row.map((cell) => cell.trim())).filter((row) => row.some((cell) => cell !== ''));
}

import type { List } from 'mdast';
import papaparse from 'papaparse';
import { renderLine } from '../render-inline.ts';
import { withLead, withTitle } from '../render-tree.ts';
import { type Context, code, type Flow, isBlank, paragraph, type Reader, takeIndented } from './blocks.ts';
import { footnoteMarker } from './inline.ts';
import { table } from './tables.ts';

/** A directive's parts: text after its name, `:option: value` lines, and the lines below. */
interface Directive {
  name: string;
  argument: string;
  options: Map<string, string>;
  content: string[];
}

const ADMONITION =
  /^(note|warning|tip|hint|important|caution|danger|error|attention|seealso|todo|info|success)$/;
const CODE =
  /^(code|code-block|sourcecode|parsed-literal|literal|math|doctest|testcode|testoutput|prompt|productionlist|ipython|console|highlight-block)$/;
const CHANGE = /^(versionadded|versionchanged|deprecated|versionremoved|deprecated-removed)$/;

/** Directives that only steer the processor, or list where other documents lie. */
const DROPPED =
  /^(contents|toctree|include|literalinclude|index|highlight|currentmodule|module|default-role|role|default-domain|sectnum|section-numbering|header|footer|meta|raw|tabularcolumns|target-notes|testsetup|testcleanup|autosummary|graphviz|digraph|plot|bibliography)$/;

/** Everything that begins with two dots: directives, footnotes, targets, substitutions and comments. */
export const readExplicitMarkup: Reader = (lines, index, context) => {
  const line = lines[index] ?? '';
  if (/^__(\s|$)/.test(line)) return { nodes: [], next: index + 1 };
  if (!/^\.\.(\s|$)/.test(line)) return null;
  const { block, next } = takeIndented(lines, index + 1);
  const rest = line.slice(2).trim();

  const [, name, argument = ''] = /^([\w][\w.+:-]*?) ?::(?:\s+(.*))?$/.exec(rest) ?? [];
  if (name !== undefined) return { nodes: readDirective(name, argument, block, context), next };

  const [, label, text = ''] = /^\[([^\]\s]+)\](?:\s+(.*))?$/.exec(rest) ?? [];
  if (label !== undefined)
    return { nodes: withLead(`${footnoteMarker(label)}: `, context.body([text, ...block])), next };

  // Targets and substitutions have been collected before; anything else is a comment.
  return { nodes: [], next };
};

/** What a directive says. One that is not known gives its argument and its content. */
function readDirective(name: string, argument: string, block: readonly string[], context: Context): Flow[] {
  const directive = readParts(name.toLowerCase().replace(/^.*:/, ''), argument, block);
  const { name: kind, content, options } = directive;
  if (DROPPED.test(kind)) return [];
  if (CODE.test(kind)) return readCode(directive);
  if (ADMONITION.test(kind)) return withTitle(titleOf(kind), context.body(joined(directive)));
  if (CHANGE.test(kind)) {
    const [version = '', ...text] = directive.argument.split(/\s+/);
    return withTitle(`${changeTitle(kind)} ${version}`.trim(), context.body([text.join(' '), ...content]));
  }
  if (kind === 'image' || kind === 'figure') {
    return [paragraph([{ type: 'text', value: options.get('alt') ?? '' }]), ...context.body(content)];
  }
  if (kind === 'csv-table') {
    const header = options.get('header') ?? '';
    return captioned(directive, [table(readCsv([header, ...content].join('\n').trim()), context)], context);
  }
  if (kind === 'list-table')
    return captioned(directive, tableOfLists(context.body(content), context), context);
  if (/^(admonition|topic|sidebar)$/.test(kind)) {
    return withTitle(renderLine(context.inline(directive.argument)), context.body(content));
  }
  return captioned(directive, context.body(content), context);
}

/** Options follow the argument without a blank line; the argument may go on over several lines. */
function readParts(name: string, firstLine: string, block: readonly string[]): Directive {
  const argument = [firstLine];
  const options = new Map<string, string>();
  let option: string | undefined;
  let index = 0;
  for (; index < block.length && !isBlank(block[index]); index += 1) {
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

/** Directives without an argument may begin their content on the first line. */
function joined(directive: Directive): string[] {
  return [...directive.argument.split('\n'), ...directive.content];
}

function readCode({ name, argument, options, content }: Directive): Flow[] {
  const isLanguage = /^(code|code-block|sourcecode|prompt)$/.test(name);
  const lines = isLanguage ? content : [argument, ...content];
  const value = lines.join('\n').replace(/^(?:[^\S\n]*\n)+|\s+$/g, '');
  const caption = options.get('caption') ?? '';
  const lang = isLanguage ? argument.split(/\s/)[0] : name === 'math' ? 'math' : null;
  return [paragraph([{ type: 'text', value: caption }]), code(value, lang || null)];
}

/** The argument as a paragraph of its own: a caption, a rubric, the signature of a function. */
function captioned({ argument }: Directive, content: Flow[], context: Context): Flow[] {
  const lines = argument.split('\n').filter((line) => !isBlank(line));
  return [...lines.map((line) => paragraph(context.inline(line))), ...content];
}

/** A list of rows, each a list of cells. */
function tableOfLists(content: Flow[], context: Context): Flow[] {
  const isList = (node: Flow): node is List => node.type === 'list';
  const rows = content.filter(isList).flatMap((list) => list.children);
  if (!rows.every((row) => row.children.length > 0 && row.children.every(isList))) return content;
  const cells = rows.map((row) => row.children.filter(isList).flatMap((list) => list.children));
  const plain: Context = { ...context, inline: (text) => [{ type: 'text', value: text }] };
  return [
    table(
      cells.map((row) => row.map((cell) => renderLine(cell.children))),
      plain,
    ),
  ];
}

function titleOf(kind: string): string {
  return kind === 'seealso' ? 'See also' : kind.charAt(0).toUpperCase() + kind.slice(1);
}

function changeTitle(kind: string): string {
  if (kind === 'versionadded') return 'Added in version';
  if (kind === 'versionchanged') return 'Changed in version';
  return kind === 'versionremoved' ? 'Removed in version' : 'Deprecated since version';
}

/** Rows of comma-separated values. Spaces before a quoted cell are allowed, as in docutils. */
function readCsv(source: string): string[][] {
  const { data } = papaparse.parse<string[]>(source.replace(/(^|,)[^\S\n]+"/gm, '$1"'), { delimiter: ',' });
  return data.map((row) => row.map((cell) => cell.trim())).filter((row) => row.some((cell) => cell !== ''));
}

import type {
  BlockContent,
  Code,
  DefinitionContent,
  List,
  ListItem,
  Nodes,
  Paragraph,
  PhrasingContent,
  Root,
  Table,
} from 'mdast';
import type { ContainerDirective } from 'mdast-util-directive';
import type { MdxJsxFlowElement } from 'mdast-util-mdx-jsx';
import type { ParsedDocument } from '../../domain/document.ts';
import type { SourceLocation } from '../../domain/location.ts';
import { type BlockWriter, createBlockWriter } from './block-writer.ts';
import { cleanText } from './decode-text.ts';
import { ATTRIBUTES, DROPPED_ELEMENTS, isPhrasing, renderInline, renderSingleLine } from './render-inline.ts';

declare module 'mdast' {
  interface Data {
    /** The location of a node and its content in the source. */
    location?: SourceLocation;
  }
}

interface RenderState {
  /** Of nested lists. */
  depth: number;
  /** The outermost list. */
  list: object | undefined;
  location: SourceLocation | undefined;
}

function renderFlow(writer: BlockWriter, nodes: readonly Nodes[], state: RenderState): void {
  for (const node of wrapPhrasing(nodes)) renderNode(writer, node, state);
}

function renderNode(writer: BlockWriter, node: Nodes, outer: RenderState): void {
  const state = enterNode(outer, node);
  const { location } = state;
  switch (node.type) {
    case 'heading':
      writer.write('heading', node.depth, headingText(node.children), { location });
      break;
    case 'paragraph':
      writer.write('paragraph', 0, paragraphText(node.children), { location });
      break;
    case 'code':
      renderCode(writer, node, location);
      break;
    case 'table':
      writer.write('table', 0, renderTable(node), { location });
      break;
    case 'tableRow':
      writer.write('paragraph', 0, node.children.map((cell) => renderSingleLine(cell.children)).join(' '), {
        location,
      });
      break;
    case 'list':
      renderList(writer, node, state);
      break;
    case 'blockquote':
      renderFlow(writer, alertContent(node.children), state);
      break;
    case 'containerDirective':
      renderFlow(writer, admonitionContent(node), state);
      break;
    case 'footnoteDefinition':
      renderFlow(writer, prependText(`[^${node.label ?? node.identifier}]: `, node.children), state);
      break;
    case 'mdxJsxFlowElement':
      if (!DROPPED_ELEMENTS.has(node.name?.toLowerCase() ?? ''))
        renderFlow(writer, prependTitle(componentLabel(node), node.children), state);
      break;
    default:
      // Others contain blocks or nothing to read: rules, link definitions, imports.
      if ('children' in node) renderFlow(writer, node.children, state);
  }
}

/** The label of a tab or card of JSX. */
function componentLabel({ name, attributes, children }: MdxJsxFlowElement): string {
  if (!/^[A-Z]/.test(name ?? '') || children.length === 0) return '';
  const label = attributes.find((one) => 'name' in one && /^(?:label|title)$/.test(one.name))?.value;
  return typeof label === 'string' ? label : '';
}

/** The state inside a node: with its location, or else that of its parent. */
function enterNode(state: RenderState, node: Nodes): RenderState {
  return node.data?.location === undefined ? state : { ...state, location: node.data.location };
}

/** Wraps inline nodes among blocks, from JSX or HTML, in paragraphs. */
function wrapPhrasing(nodes: readonly Nodes[]): Nodes[] {
  const wrapped: Nodes[] = [];
  let run: Paragraph | undefined;
  for (const node of nodes) {
    if (!isPhrasing(node)) {
      run = undefined;
      wrapped.push(node);
      continue;
    }
    if (run === undefined) {
      run = { type: 'paragraph', children: [] };
      wrapped.push(run);
    }
    run.children.push(node as PhrasingContent);
  }
  return wrapped;
}

const TABLE_ATTRIBUTES = new RegExp(`^${ATTRIBUTES}$`);
const LAST_ATTRIBUTES = new RegExp(`\\s*${ATTRIBUTES}$`);

function headingText(nodes: readonly Nodes[]): string {
  const text = renderSingleLine(nodes).replace(/\[([^\]]*)\]\(https?:[^\s()]*\)/gi, '$1');
  return text.replace(LAST_ATTRIBUTES, '');
}

/** Keeps `{key=value}` without a colon, a class or an id, which may be text. */
function paragraphText(nodes: readonly Nodes[]): string {
  const text = renderInline(nodes);
  return /\{\s*[:.#][^{}]*\}$/.test(text) ? text.replace(LAST_ATTRIBUTES, '') : text;
}

/** `title="app.py"`, `tab="YAML"`, or `[vite.config.js]` of VitePress. */
const CODE_TITLE = /\b(?:title|tab|label|filename)=(["'])(.+?)\1|(?:^|\s)\[([^[\]]+)\]/;

function renderCode(writer: BlockWriter, node: Code, location: SourceLocation | undefined): void {
  if (node.value.trim() === '') return;
  const [, , attribute, bracketed] = CODE_TITLE.exec(node.meta ?? '') ?? [];
  const title = attribute ?? bracketed ?? '';
  writer.write('paragraph', 0, title, { location });
  writer.write('code', 0, formatCodeBlock(node.value, codeLanguage(node)), { location });
}

/** The first class of `{ .python .annotate }`, or the word itself. */
function codeLanguage({ lang, meta }: Code): string {
  if (!lang?.startsWith('{')) return lang ?? '';
  return /[{.\s]([a-z][\w+#-]*)/i.exec(`${lang} ${meta ?? ''}`)?.[1] ?? '';
}

function renderList(writer: BlockWriter, list: List, state: RenderState): void {
  const inside = { ...state, depth: state.depth + 1, list: state.list ?? list };
  const start = list.start ?? 1;
  list.children.forEach((item, index) => {
    renderItem(writer, item, list.ordered ? `${start + index}. ` : '- ', enterNode(inside, item));
  });
}

/** The item is its marker and first paragraph; its other content follows as separate blocks. */
function renderItem(writer: BlockWriter, item: ListItem, marker: string, state: RenderState): void {
  const [first, ...rest] = wrapPhrasing(item.children);
  if (first === undefined) return;
  const isText = first.type === 'paragraph' || first.type === 'heading';
  const text = isText ? paragraphText(first.children) : '';
  const box = typeof item.checked === 'boolean' ? (item.checked ? '[x] ' : '[ ] ') : '';
  if (text !== '') writer.write('item', state.depth, `${marker}${box}${text}`, enterNode(state, first));
  renderFlow(writer, isText ? rest : [first, ...rest], state);
}

/** A Markdown table; empty if all cells are empty. */
function renderTable(table: Table): string {
  const rows = table.children.map((row) => row.children.map((cell) => renderSingleLine(cell.children)));
  // HTML tables without a header get an empty one.
  while (rows[0]?.every((cell) => cell === '')) rows.shift();
  // Attributes below a table are parsed as its last row.
  if (TABLE_ATTRIBUTES.test(rows.at(-1)?.join('') ?? '')) rows.pop();
  return rows.length === 0 ? '' : formatTextTable(rows);
}

/** A Markdown table whose first row is the header. */
export function formatTextTable(rows: readonly (readonly string[])[]): string {
  const width = rows.reduce((widest, row) => Math.max(widest, row.length), 0);
  const format = (cell: (column: number) => string) =>
    `| ${Array.from({ length: width }, (_, column) => cell(column)).join(' | ')} |`;
  const [header, ...lines] = rows.map((row) =>
    format((column) => (row[column] ?? '').replaceAll('|', '\\|')),
  );
  return [header, format(() => '---'), ...lines].join('\n');
}

/** A fenced code block whose fence is longer than any in the code. */
export function formatCodeBlock(code: string, language: string): string {
  const longestRun = (code.match(/`{3,}/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
  const fence = '`'.repeat(longestRun + 1);
  return `${fence}${language}\n${code}\n${fence}`;
}

/** Renders a tree. The title is that of the metadata, the first heading of level 1, or `fallbackTitle`. */
export function toParsedDocument(
  root: Root,
  metadata: Record<string, string>,
  fallbackTitle: string | null = null,
): ParsedDocument {
  const writer = createBlockWriter();
  renderFlow(writer, root.children, { depth: 0, list: undefined, location: undefined });
  const { text, blocks } = writer.finish();
  const top = blocks.find((block) => block.kind === 'heading' && block.depth === 1);
  const title = metadata.title ?? (top ? text.slice(top.start, top.end) : fallbackTitle);
  // Escapes may produce control characters: "\x1b" in YAML, &#27; in HTML.
  const clean = Object.entries(metadata).map(([key, value]) => [cleanText(key), cleanText(value)]);
  return { title: title && cleanText(title), metadata: Object.fromEntries(clean), text, blocks };
}

type FlowContent = BlockContent | DefinitionContent;

/** Kinds that become the title of an admonition without one. */
const ADMONITIONS =
  /^(note|tip|info|hint|important|warning|caution|danger|error|attention|success|seealso|question|example)$/i;

/** The content of `:::note[Title]` with its title. */
function admonitionContent(directive: ContainerDirective): FlowContent[] {
  const [first, ...rest] = directive.children;
  const isLabelled = first?.type === 'paragraph' && first.data?.directiveLabel === true;
  const label = isLabelled ? renderSingleLine(first.children) : '';
  const title = label || (ADMONITIONS.test(directive.name) ? capitalize(directive.name) : '');
  return prependTitle(title, isLabelled ? rest : directive.children);
}

/** The content of a GitHub alert (`> [!NOTE]`) with its kind as title; other quotes unchanged. */
function alertContent(children: readonly FlowContent[]): readonly FlowContent[] {
  const [first, ...rest] = children;
  const opening = first?.type === 'paragraph' ? first.children[0] : undefined;
  if (first?.type !== 'paragraph' || opening?.type !== 'text') return children;
  const [marker, kind] = /^\[!(\w+)\]\s*/.exec(opening.value) ?? [];
  if (marker === undefined || kind === undefined || !ADMONITIONS.test(kind)) return children;
  const text = { ...opening, value: opening.value.slice(marker.length) };
  const body: Paragraph = { type: 'paragraph', children: [text, ...first.children.slice(1)] };
  return prependTitle(capitalize(kind), renderSingleLine(body.children) === '' ? rest : [body, ...rest]);
}

/** Adds a title on the line of the first paragraph, so that chunking keeps them together. */
export function prependTitle(title: string, content: readonly FlowContent[]): FlowContent[] {
  if (title === '') return [...content];
  return prependText(/[.!?:…]$/.test(title) ? `${title} ` : `${title}: `, content);
}

/** Adds `lead` to the first paragraph, or as a paragraph if the content starts with another block. */
export function prependText(lead: string, content: readonly FlowContent[]): FlowContent[] {
  const [first, ...rest] = content;
  const opening: Nodes = { type: 'text', value: lead };
  if (first?.type === 'paragraph') {
    return [{ ...first, children: [opening, ...first.children] }, ...rest];
  }
  return [{ type: 'paragraph', children: [{ ...opening, value: lead.replace(/:? $/, '') }] }, ...content];
}

function capitalize(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1).toLowerCase();
}

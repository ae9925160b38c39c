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
import type { ParsedDocument } from '../../domain/document.ts';
import type { Location } from '../../domain/location.ts';
import { type BlockWriter, createBlockWriter } from './block-writer.ts';
import { cleanText } from './decode-text.ts';
import { DROPPED_ELEMENTS, isPhrasing, renderInline, renderLine } from './render-inline.ts';

declare module 'mdast' {
  interface Data {
    /** Where the source has a node and all below it, set by the reader of the format. */
    location?: Location;
  }
}

/** Where rendering stands: how deep in lists, inside which outermost list, and where in the source. */
interface Place {
  depth: number;
  list: object | undefined;
  location: Location | undefined;
}

/** Makes the clean text of a document and its blocks; every format with structure comes through here. */
function renderTree(root: Root): Pick<ParsedDocument, 'text' | 'blocks'> {
  const writer = createBlockWriter();
  renderFlow(writer, root.children, { depth: 0, list: undefined, location: undefined });
  return writer.finish();
}

function renderFlow(writer: BlockWriter, nodes: readonly Nodes[], place: Place): void {
  for (const node of wrapPhrasing(nodes)) renderNode(writer, node, place);
}

function renderNode(writer: BlockWriter, node: Nodes, outer: Place): void {
  const place = within(outer, node);
  const { location } = place;
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
      writer.write('paragraph', 0, node.children.map((cell) => renderLine(cell.children)).join(' '), {
        location,
      });
      break;
    case 'list':
      renderList(writer, node, place);
      break;
    case 'blockquote':
      renderFlow(writer, alertContent(node.children), place);
      break;
    case 'containerDirective':
      renderFlow(writer, admonitionContent(node), place);
      break;
    case 'footnoteDefinition':
      renderFlow(writer, withLead(`[^${node.label ?? node.identifier}]: `, node.children), place);
      break;
    case 'mdxJsxFlowElement':
      if (!DROPPED_ELEMENTS.has(node.name?.toLowerCase() ?? '')) renderFlow(writer, node.children, place);
      break;
    default:
      // What is left either holds blocks or has nothing to read: rules, link definitions, imports, front matter.
      if ('children' in node) renderFlow(writer, node.children, place);
  }
}

/** What is known of a node's place in the source, else that of what it is in. */
function within(place: Place, node: Nodes): Place {
  return node.data?.location === undefined ? place : { ...place, location: node.data.location };
}

/** Gathers inline nodes that stand where blocks belong (JSX, HTML) into paragraphs. */
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

/** The attributes that many generators of sites allow after a heading or below a block: `{#id}`, `{ .class }`, `{: key=value }`. */
const ATTRIBUTES = /\s*\{:?\s*(?:[#.][\w:.-]+|[\w-]+=(?:"[^"]*"|'[^']*'|[^\s{}"']*))(?:\s+[^{}]*)?\}$/;

/** A heading without its attributes. */
function headingText(nodes: readonly Nodes[]): string {
  return renderLine(nodes).replace(ATTRIBUTES, '');
}

/** A paragraph without attributes of the kind that only Kramdown has: `{: .note }`. */
function paragraphText(nodes: readonly Nodes[]): string {
  const text = renderInline(nodes);
  return /\{:[^{}]*\}$/.test(text) ? text.replace(ATTRIBUTES, '') : text;
}

function renderCode(writer: BlockWriter, node: Code, location: Location | undefined): void {
  if (node.value.trim() === '') return;
  const title = /\btitle=(["'])(.+?)\1/.exec(node.meta ?? '')?.[2] ?? '';
  writer.write('paragraph', 0, title, { location });
  const longest = (node.value.match(/`{3,}/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
  const fence = '`'.repeat(longest + 1);
  writer.write('code', 0, `${fence}${node.lang ?? ''}\n${node.value}\n${fence}`, { location });
}

function renderList(writer: BlockWriter, list: List, place: Place): void {
  const inside = { ...place, depth: place.depth + 1, list: place.list ?? list };
  const start = list.start ?? 1;
  list.children.forEach((item, index) => {
    renderItem(writer, item, list.ordered ? `${start + index}. ` : '- ', within(inside, item));
  });
}

/** An item is its marker and its first paragraph; what else it contains follows as blocks of their own kind. */
function renderItem(writer: BlockWriter, item: ListItem, marker: string, place: Place): void {
  const [first, ...rest] = wrapPhrasing(item.children);
  if (first === undefined) return;
  const isText = first.type === 'paragraph' || first.type === 'heading';
  const text = isText ? renderInline(first.children) : '';
  const box = typeof item.checked === 'boolean' ? (item.checked ? '[x] ' : '[ ] ') : '';
  if (text !== '') writer.write('item', place.depth, `${marker}${box}${text}`, within(place, first));
  renderFlow(writer, isText ? rest : [first, ...rest], place);
}

/** A table as rows with pipes; empty if no cell has content. */
function renderTable(table: Table): string {
  const rows = table.children.map((row) =>
    row.children.map((cell) => renderLine(cell.children).replaceAll('|', '\\|')),
  );
  // HTML knows tables without a head, which come with an empty one.
  while (rows[0]?.every((cell) => cell === '')) rows.shift();
  if (rows.length === 0) return '';

  const width = rows.reduce((widest, row) => Math.max(widest, row.length), 0);
  const lines = rows.map((row) => tableLine(Array.from({ length: width }, (_, column) => row[column] ?? '')));
  lines.splice(1, 0, tableLine(Array.from({ length: width }, () => '---')));
  return lines.join('\n');
}

export function tableLine(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

/** Renders a tree. The title is the one of the metadata, else the first top heading, else `fallbackTitle`. */
export function toDocument(
  root: Root,
  metadata: Record<string, string>,
  fallbackTitle: string | null = null,
): ParsedDocument {
  const { text, blocks } = renderTree(root);
  const top = blocks.find((block) => block.kind === 'heading' && block.depth === 1);
  const title = metadata.title ?? (top ? text.slice(top.start, top.end) : fallbackTitle);
  // Escapes of the format itself may have written what the source did not show: "\x1b" in YAML, &#27; in HTML.
  const clean = Object.entries(metadata).map(([key, value]) => [cleanText(key), cleanText(value)]);
  return { title: title && cleanText(title), metadata: Object.fromEntries(clean), text, blocks };
}

type Flow = BlockContent | DefinitionContent;

/** Names of which the reader is told even where no title is given: a warning has to read as one. */
const ADMONITIONS =
  /^(note|tip|info|hint|important|warning|caution|danger|error|attention|success|seealso|question|example)$/i;

/** `:::note[Title]` as its content, opened by the title. */
function admonitionContent(directive: ContainerDirective): Flow[] {
  const [first, ...rest] = directive.children;
  const isLabelled = first?.type === 'paragraph' && first.data?.directiveLabel === true;
  const label = isLabelled ? renderLine(first.children) : '';
  const title = label || (ADMONITIONS.test(directive.name) ? capitalise(directive.name) : '');
  return withTitle(title, isLabelled ? rest : directive.children);
}

/** A quote that is a GitHub alert (`> [!NOTE]`) as its content, opened by its kind; any other one as it is. */
function alertContent(children: readonly Flow[]): readonly Flow[] {
  const [first, ...rest] = children;
  const opening = first?.type === 'paragraph' ? first.children[0] : undefined;
  if (first?.type !== 'paragraph' || opening?.type !== 'text') return children;
  const [marker, kind] = /^\[!(\w+)\]\s*/.exec(opening.value) ?? [];
  if (marker === undefined || kind === undefined || !ADMONITIONS.test(kind)) return children;
  const text = { ...opening, value: opening.value.slice(marker.length) };
  const body: Paragraph = { type: 'paragraph', children: [text, ...first.children.slice(1)] };
  return withTitle(capitalise(kind), renderLine(body.children) === '' ? rest : [body, ...rest]);
}

/** Puts a title before content, on the same line as its first paragraph so that the two stay together. */
export function withTitle(title: string, content: readonly Flow[]): Flow[] {
  if (title === '') return [...content];
  return withLead(/[.!?:…]$/.test(title) ? `${title} ` : `${title}: `, content);
}

/** Begins the first paragraph with `lead`, which gets one of its own where there is no paragraph first. */
export function withLead(lead: string, content: readonly Flow[]): Flow[] {
  const [first, ...rest] = content;
  const opening: Nodes = { type: 'text', value: lead };
  if (first?.type === 'paragraph') {
    return [{ ...first, children: [opening, ...first.children] }, ...rest];
  }
  return [{ type: 'paragraph', children: [{ ...opening, value: lead.replace(/:? $/, '') }] }, ...content];
}

function capitalise(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1).toLowerCase();
}

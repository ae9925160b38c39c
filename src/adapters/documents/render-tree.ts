import type { Code, List, ListItem, Nodes, Paragraph, PhrasingContent, Root } from 'mdast';
import type { ParsedDocument } from '../../domain/document.ts';
import { admonitionContent, alertContent, withLead } from './admonition.ts';
import { type BlockWriter, createBlockWriter } from './block-writer.ts';
import { DROPPED_ELEMENTS } from './html-elements.ts';
import { isPhrasing, renderInline, renderLine } from './render-inline.ts';
import { renderTable } from './render-table.ts';

/** Where rendering stands: how deep in lists, and inside which outermost list. */
interface Place {
  depth: number;
  list: object | undefined;
}

/** Makes the clean text of a document and its blocks; every format with structure comes through here. */
export function renderTree(root: Root): Pick<ParsedDocument, 'text' | 'blocks'> {
  const writer = createBlockWriter();
  renderFlow(writer, root.children, { depth: 0, list: undefined });
  return writer.finish();
}

function renderFlow(writer: BlockWriter, nodes: readonly Nodes[], place: Place): void {
  for (const node of wrapPhrasing(nodes)) renderNode(writer, node, place);
}

function renderNode(writer: BlockWriter, node: Nodes, place: Place): void {
  switch (node.type) {
    case 'heading':
      writer.write('heading', node.depth, headingText(node.children));
      break;
    case 'paragraph':
      writer.write('paragraph', 0, renderInline(node.children));
      break;
    case 'code':
      renderCode(writer, node);
      break;
    case 'table':
      writer.write('table', 0, renderTable(node));
      break;
    case 'tableRow':
      writer.write('paragraph', 0, node.children.map((cell) => renderLine(cell.children)).join(' '));
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

/** A heading without the identifier that Docusaurus and others allow after it: `Title {#id}`. */
function headingText(nodes: readonly Nodes[]): string {
  return renderLine(nodes).replace(/\s*\{#[\w-]+\}$/, '');
}

function renderCode(writer: BlockWriter, node: Code): void {
  if (node.value.trim() === '') return;
  const title = /\btitle=(["'])(.+?)\1/.exec(node.meta ?? '')?.[2] ?? '';
  writer.write('paragraph', 0, title);
  const longest = (node.value.match(/`{3,}/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
  const fence = '`'.repeat(longest + 1);
  writer.write('code', 0, `${fence}${node.lang ?? ''}\n${node.value}\n${fence}`);
}

function renderList(writer: BlockWriter, list: List, place: Place): void {
  const inside = { depth: place.depth + 1, list: place.list ?? list };
  const start = list.start ?? 1;
  list.children.forEach((item, index) => {
    renderItem(writer, item, list.ordered ? `${start + index}. ` : '- ', inside);
  });
}

/** An item is its marker and its first paragraph; what else it contains follows as blocks of their own kind. */
function renderItem(writer: BlockWriter, item: ListItem, marker: string, place: Place): void {
  const [first, ...rest] = wrapPhrasing(item.children);
  if (first === undefined) return;
  const isText = first.type === 'paragraph' || first.type === 'heading';
  const text = isText ? renderInline(first.children) : '';
  const box = typeof item.checked === 'boolean' ? (item.checked ? '[x] ' : '[ ] ') : '';
  if (text !== '') writer.write('item', place.depth, `${marker}${box}${text}`, place.list);
  renderFlow(writer, isText ? rest : [first, ...rest], place);
}

import type { BlockContent, DefinitionContent, Nodes, Paragraph } from 'mdast';
import type { ContainerDirective } from 'mdast-util-directive';
import { renderLine } from './render-inline.ts';

type Flow = BlockContent | DefinitionContent;

/** Names of which the reader is told even where no title is given: a warning has to read as one. */
const ADMONITIONS =
  /^(note|tip|info|hint|important|warning|caution|danger|error|attention|success|seealso|question|example)$/i;

/** `:::note[Title]` as its content, opened by the title. */
export function admonitionContent(directive: ContainerDirective): Flow[] {
  const [first, ...rest] = directive.children;
  const isLabelled = first?.type === 'paragraph' && first.data?.directiveLabel === true;
  const label = isLabelled ? renderLine(first.children) : '';
  const title = label || (ADMONITIONS.test(directive.name) ? capitalise(directive.name) : '');
  return withTitle(title, isLabelled ? rest : directive.children);
}

/** A quote that is a GitHub alert (`> [!NOTE]`) as its content, opened by its kind; any other one as it is. */
export function alertContent(children: readonly Flow[]): readonly Flow[] {
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
    return [{ type: 'paragraph', children: [opening, ...first.children] }, ...rest];
  }
  return [{ type: 'paragraph', children: [{ ...opening, value: lead.replace(/:? $/, '') }] }, ...content];
}

function capitalise(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1).toLowerCase();
}

import type { Code, Parents, Root } from 'mdast';
import { SKIP, visit } from 'unist-util-visit';
import type { FlowNode } from './rst/blocks.ts';
import { readDirective } from './rst/directives.ts';
import { toRoleNode } from './rst/inline.ts';
import { parseRstNodes } from './rst/rst.ts';

const NAME = '\\{[a-z][\\w:+.-]*\\}';
/** A directive, a role or a target. Only in such documents are `%` comments and `+++` block breaks. */
const MYST = new RegExp(
  `^[ \\t]*(?:\`{3,}|~{3,}|:{3,})${NAME}|${NAME}\`[^\`\\n]|^\\([^()\\n]+\\)=[ \\t]*$`,
  'im',
);
const COLON_FENCE = new RegExp(`^([ \\t>]*)(:{3,})(${NAME}.*)$`, 'i');
/** Longer than the fences in the content. */
const TILDES = '~'.repeat(64);
const DROPPED_LINE = /^(?:\([^()]+\)=|%(?:\s.*)?|\+\+\+(?:\s.*)?)\s*$/;

/**
 * Removes targets, comments and block breaks of MyST, and turns `:::{note}` into a code fence, which `expandMyst` reads.
 * Keeps the number of lines.
 */
export function prepareMyst(source: string): string {
  if (!MYST.test(source)) return source;
  let closing: RegExp | null = null;
  let isColons = false;
  return source
    .split('\n')
    .map((line) => {
      if (closing !== null) {
        if (!closing.test(line)) return line;
        closing = null;
        return isColons ? line.replace(/:+/, TILDES) : line;
      }
      const [, indent = '', colons, rest = ''] = COLON_FENCE.exec(line) ?? [];
      const run = colons ?? /^[ \t>]*(?:[-+*][ \t]+|\d+[.)][ \t]+)*(`{3,}|~{3,})/.exec(line)?.[1];
      if (run === undefined) return DROPPED_LINE.test(line) ? '' : line;
      closing = new RegExp(`^[ \\t>]*${run}${run.charAt(0)}*[ \\t]*$`);
      isColons = colons !== undefined;
      return isColons ? `${indent}${TILDES}${rest}` : line;
    })
    .join('\n');
}

/** Code cells of Quarto and R Markdown look like directives. */
const CELL_LANGUAGE = /^(python|r|julia|bash|sh|sql|js|javascript|ts|typescript|ojs|mermaid|dot|css|stan)$/i;
/** Deeper directives stay code. */
const MAX_DEPTH = 10;

/** Replaces MyST directives by their content and roles by their text. */
export function expandMyst(tree: Root, parse: (source: string, depth: number) => Root, depth: number): void {
  visit(tree, (node, index, parent) => {
    if (parent === undefined || index === undefined) return undefined;
    if (node.type === 'code') {
      const name = /^\{([a-z][\w:+.-]*)\}$/i.exec(node.lang ?? '')?.[1];
      if (name === undefined || depth >= MAX_DEPTH) return undefined;
      if (CELL_LANGUAGE.test(name)) {
        node.lang = name.toLowerCase();
        return undefined;
      }
      const nodes = readMystDirective(name, node, (source) => parse(source, depth + 1));
      for (const inner of nodes) inner.data = { ...inner.data, ...node.data };
      parent.children.splice(index, 1, ...nodes);
      return [SKIP, index + nodes.length];
    }
    return node.type === 'inlineCode' ? applyRole(parent, index, node.value) : undefined;
  });
}

function readMystDirective(name: string, { meta, value }: Code, parse: (source: string) => Root): FlowNode[] {
  if (name === 'eval-rst') return parseRstNodes(value);
  const body = (lines: readonly string[]) => parse(lines.join('\n')).children as FlowNode[];
  const { options, content } = splitOptions(value.split('\n'));
  return readDirective(name, meta ?? '', [...options, '', ...content], {
    body,
    inline(text) {
      const [first] = body([text]);
      return first?.type === 'paragraph' ? first.children : [{ type: 'text', value: text }];
    },
    headingDepth: () => 1,
  });
}

/** Options are lines of `:key: value`, or YAML between two rules. */
function splitOptions(lines: string[]): { options: string[]; content: string[] } {
  const isYaml = lines[0]?.trim() === '---';
  const end = isYaml ? lines.indexOf('---', 1) : lines.findIndex((line) => !/^:[\w-]+:(?:\s|$)/.test(line));
  if (end < 0) return isYaml ? { options: [], content: lines } : { options: lines, content: [] };
  if (!isYaml) return { options: lines.slice(0, end), content: lines.slice(end) };
  const options = lines.slice(1, end).map((line) => line.replace(/^([\w-]+):/, ':$1:'));
  return { options, content: lines.slice(end + 1) };
}

/** Replaces inline code after `{role}` by the text of the role. Returns the next index. */
function applyRole(parent: Parents, index: number, value: string): [typeof SKIP, number] | undefined {
  let [first, text] = [index, ''];
  // Text with colons, such as `{py:func}`, is in several nodes.
  for (
    let before = parent.children[index - 1];
    before?.type === 'text';
    before = parent.children[first - 1]
  ) {
    text = before.value + text;
    first -= 1;
  }
  const [written, role] = /(?<!\$)\{([a-z][\w:.+-]*)\}$/i.exec(text) ?? [];
  if (written === undefined || role === undefined) return undefined;
  const lead = { type: 'text' as const, value: text.slice(0, -written.length) };
  parent.children.splice(first, index - first + 1, lead, toRoleNode(role, value));
  return [SKIP, first + 2];
}

import { createRequire } from 'node:module';
import type { Language, Node, Parser } from '@vscode/tree-sitter-wasm';
import type { CodeLanguage } from './languages.ts';

/** A function or type with the comments and attributes before it. Rows count from 0, and `to` is included. */
export interface CodeDefinition {
  /** Qualified by its parents: `Session.close`. */
  name: string;
  from: number;
  to: number;
  members: CodeDefinition[];
}

/** Grammars by name, each loaded once. */
export type LoadedGrammars = Map<string, Promise<Language>>;

const MAX_DEPTH = 20;

/** The definitions of a source in order. A syntax error affects only the definitions around it. */
export async function findCodeDefinitions(
  source: string,
  language: CodeLanguage,
  grammars: LoadedGrammars,
): Promise<CodeDefinition[]> {
  const parser = await openParser(language, grammars);
  try {
    const tree = parser.parse(source);
    if (tree === null) return [];
    const found = collectDefinitions(tree.rootNode, language, '', 0);
    tree.delete();
    return found;
  } finally {
    parser.delete();
  }
}

async function openParser({ grammar }: CodeLanguage, grammars: LoadedGrammars): Promise<Parser> {
  const { default: treeSitter } = await import('@vscode/tree-sitter-wasm');
  await treeSitter.Parser.init();
  let loading = grammars.get(grammar);
  if (loading === undefined) {
    const file = createRequire(import.meta.url).resolve(
      `@vscode/tree-sitter-wasm/wasm/tree-sitter-${grammar}.wasm`,
    );
    loading = treeSitter.Language.load(file);
    grammars.set(grammar, loading);
  }
  return new treeSitter.Parser().setLanguage(await loading);
}

function collectDefinitions(
  parent: Node,
  language: CodeLanguage,
  path: string,
  depth: number,
): CodeDefinition[] {
  if (depth > MAX_DEPTH) return [];
  const found: CodeDefinition[] = [];
  for (const child of namedChildren(parent)) {
    const inner = findWrapped(child, language);
    const name = inner === null ? '' : definitionName(inner);
    if (inner !== null && name !== '') {
      const from = Math.max(firstRow(child), (found.at(-1)?.to ?? -1) + 1);
      const own = path === '' ? name : `${path}.${name}`;
      const isContainer = language.containers.has(inner.type);
      const members = isContainer ? collectDefinitions(bodyNode(inner), language, own, depth + 1) : [];
      if (from <= lastRow(child)) found.push({ name: own, from, to: lastRow(child), members });
    } else if (language.wrappers.has(child.type)) {
      const last = found.at(-1)?.to ?? -1;
      found.push(
        ...collectDefinitions(bodyNode(child), language, path, depth + 1).filter(({ from }) => from > last),
      );
    }
  }
  return found;
}

/** The definition that a node is or wraps; null if there is none or several. */
function findWrapped(node: Node, language: CodeLanguage): Node | null {
  // A constant counts if it is a function: `const f = () => ...`.
  if (node.type === 'variable_declarator')
    return /function|arrow|class/.test(node.childForFieldName('value')?.type ?? '') ? node : null;
  if (language.definitions.has(node.type)) return node;
  if (!language.wrappers.has(node.type)) return null;
  const definitions = namedChildren(node).flatMap((child) => findWrapped(child, language) ?? []);
  return definitions.length === 1 ? (definitions[0] ?? null) : null;
}

function bodyNode(node: Node): Node {
  const body = node.childForFieldName('body');
  if (body !== null) return body;
  return namedChildren(node).find((child) => /(body|_list|_block)$/.test(child.type)) ?? node;
}

/** The name of a definition, or empty. Go methods are qualified by their receiver, and Rust impls named by their type. */
function definitionName(node: Node): string {
  if (node.type === 'impl_item') return node.childForFieldName('type')?.text ?? '';
  const identifier = namedChildren(node).find((child) => /name|identifier/.test(child.type));
  const name = node.childForFieldName('name')?.text ?? declaratorName(node) ?? identifier?.text ?? '';
  const receiver = /[A-Za-z_]\w*(?=(?:\[.*\])?\s*\)$)/.exec(
    node.childForFieldName('receiver')?.text ?? '',
  )?.[0];
  return (receiver === undefined ? name : `${receiver}.${name}`).replace(/\s+/g, ' ').slice(0, 120);
}

/** In C the name is inside the declarator: `int *(name)(void)`. */
function declaratorName(node: Node): string | undefined {
  let declarator = node.childForFieldName('declarator');
  for (let depth = 0; declarator !== null && depth < MAX_DEPTH; depth += 1) {
    const inner: Node | null = declarator.childForFieldName('declarator');
    if (inner === null) return /identifier|name/.test(declarator.type) ? declarator.text : undefined;
    declarator = inner;
  }
  return undefined;
}

function namedChildren(node: Node): Node[] {
  return node.namedChildren.filter((child) => child !== null);
}

/** The first row of a definition with the comments and attributes directly before it. */
function firstRow(node: Node): number {
  let row = node.startPosition.row;
  let before = node.previousNamedSibling;
  while (
    before !== null &&
    /comment|attribute|decorator|annotation/.test(before.type) &&
    lastRow(before) >= row - 1
  ) {
    // A comment at the end of a line of code belongs to that code.
    const earlier = before.previousNamedSibling;
    if (earlier !== null && lastRow(earlier) === before.startPosition.row) break;
    row = before.startPosition.row;
    before = earlier;
  }
  return row;
}

function lastRow(node: Node): number {
  const { row, column } = node.endPosition;
  return column === 0 && row > node.startPosition.row ? row - 1 : row;
}

import { createRequire } from 'node:module';
import type { Node, Parser } from '@vscode/tree-sitter-wasm';
import type { Language } from './languages.ts';

/** A function or a type: its rows from 0, both ends included, with the comments and attributes before it. */
export interface Definition {
  /** With the names of what it is in: `Session.close`. */
  name: string;
  from: number;
  to: number;
  members: Definition[];
}

/** How deep types inside types are looked through. */
const DEEPEST = 20;

/** The definitions of a source, in order. Wrong syntax costs at most the definitions around it. */
export async function findDefinitions(source: string, language: Language): Promise<Definition[]> {
  const parser = await openParser(language);
  try {
    const tree = parser.parse(source);
    if (tree === null) return [];
    const found = definitionsIn(tree.rootNode, language, '', 0);
    tree.delete();
    return found;
  } finally {
    parser.delete();
  }
}

/** A parser for a language; runtime and grammars are loaded once, as the library keeps them. */
async function openParser({ grammar }: Language): Promise<Parser> {
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

const grammars = new Map<string, ReturnType<typeof import('@vscode/tree-sitter-wasm')['Language']['load']>>();

function definitionsIn(parent: Node, language: Language, path: string, depth: number): Definition[] {
  if (depth > DEEPEST) return [];
  const found: Definition[] = [];
  for (const child of namedChildren(parent)) {
    const inner = definedIn(child, language);
    const name = inner === null ? '' : nameOf(inner);
    if (inner !== null && name !== '') {
      const from = Math.max(firstRow(child), (found.at(-1)?.to ?? -1) + 1);
      const own = path === '' ? name : `${path}.${name}`;
      const isContainer = language.containers.has(inner.type);
      const members = isContainer ? definitionsIn(bodyOf(inner), language, own, depth + 1) : [];
      if (from <= lastRow(child)) found.push({ name: own, from, to: lastRow(child), members });
    } else if (language.wrappers.has(child.type)) {
      const last = found.at(-1)?.to ?? -1;
      found.push(
        ...definitionsIn(bodyOf(child), language, path, depth + 1).filter(({ from }) => from > last),
      );
    }
  }
  return found;
}

/** The definition that a node is, or is no more than the wrapping of. */
function definedIn(node: Node, language: Language): Node | null {
  if (node.type === 'variable_declarator') return isFunction(node) ? node : null;
  if (language.definitions.has(node.type)) return node;
  if (!language.wrappers.has(node.type)) return null;
  const definitions = namedChildren(node).flatMap((child) => definedIn(child, language) ?? []);
  return definitions.length === 1 ? (definitions[0] ?? null) : null;
}

/** `const f = () => ...` defines a function, other constants do not. */
function isFunction(declarator: Node): boolean {
  return /function|arrow|class/.test(declarator.childForFieldName('value')?.type ?? '');
}

function bodyOf(node: Node): Node {
  const body = node.childForFieldName('body');
  if (body !== null) return body;
  return namedChildren(node).find((child) => /(body|_list|_block)$/.test(child.type)) ?? node;
}

/** The name of a definition, or an empty text. A method of Go or an implementation of Rust is named after its type. */
function nameOf(node: Node): string {
  if (node.type === 'impl_item') return node.childForFieldName('type')?.text ?? '';
  const name = node.childForFieldName('name')?.text ?? declaratorName(node) ?? wordIn(node);
  const receiver = /[A-Za-z_]\w*(?=(?:\[.*\])?\s*\)$)/.exec(
    node.childForFieldName('receiver')?.text ?? '',
  )?.[0];
  return oneLine(receiver === undefined ? name : `${receiver}.${name}`);
}

/** In C the name is inside of what tells the type: `int *(name)(void)`. */
function declaratorName(node: Node): string | undefined {
  let declarator = node.childForFieldName('declarator');
  for (let depth = 0; declarator !== null && depth < DEEPEST; depth += 1) {
    const inner: Node | null = declarator.childForFieldName('declarator');
    if (inner === null) return /identifier|name/.test(declarator.type) ? declarator.text : undefined;
    declarator = inner;
  }
  return undefined;
}

function wordIn(node: Node): string {
  const named = namedChildren(node).find((child) => /name|identifier/.test(child.type));
  return named?.text ?? '';
}

function oneLine(name: string): string {
  return name.replace(/\s+/g, ' ').slice(0, 120);
}

function namedChildren(node: Node): Node[] {
  return node.namedChildren.filter((child) => child !== null);
}

/** Where a definition begins, with the comments and attributes that stand directly before it. */
function firstRow(node: Node): number {
  let row = node.startPosition.row;
  let before = node.previousNamedSibling;
  while (
    before !== null &&
    /comment|attribute|decorator|annotation/.test(before.type) &&
    lastRow(before) >= row - 1
  ) {
    // A comment behind other code belongs to that code.
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

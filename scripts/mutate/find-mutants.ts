import { parseSync } from 'rolldown/utils';

/** A small change of a source file that a test should detect. */
export interface Mutant {
  start: number;
  end: number;
  /** Null for a removed statement. */
  replacement: string | null;
}

interface Node {
  type: string;
  start: number;
  end: number;
  [field: string]: unknown;
}

const OPERATORS: Record<string, string> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '%': '*',
  '&&': '||',
  '||': '&&',
  '??': '&&',
};
const METHODS = new Map([
  ['min', 'max'],
  ['max', 'min'],
  ['floor', 'ceil'],
  ['ceil', 'floor'],
  ['some', 'every'],
  ['every', 'some'],
  ['startsWith', 'endsWith'],
  ['endsWith', 'startsWith'],
]);
/** TypeScript nodes that contain a runtime expression. */
const TYPED_EXPRESSIONS = new Set(['TSAsExpression', 'TSSatisfiesExpression', 'TSNonNullExpression']);

/** All mutants of a file in source order; deterministic. */
export function findMutants(file: string, source: string): Mutant[] {
  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${errors[0]?.message}`);
  const found: Mutant[] = [];

  function visit(node: Node, inChain: boolean): void {
    if (node.type.startsWith('TS') && !TYPED_EXPRESSIONS.has(node.type)) return;
    if (['ImportDeclaration', 'ExportAllDeclaration', 'ImportExpression'].includes(node.type)) return;
    found.push(...mutantsOf(node, source, inChain));
    for (const [field, value] of Object.entries(node)) {
      if (field === 'key' && node.computed !== true) continue;
      if (node.type === 'ExportNamedDeclaration' && field === 'source') continue;
      // Parentheses inside an optional chain would end it.
      const chained = node.type === 'ChainExpression' || (inChain && ['object', 'callee'].includes(field));
      for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) visit(child, chained);
    }
  }
  visit(program as unknown as Node, false);
  return found.sort((a, b) => a.start - b.start || b.end - a.end);
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}

function mutantsOf(node: Node, source: string, inChain: boolean): Mutant[] {
  const { start, end } = node;
  const textOf = (part: unknown) => (isNode(part) ? source.slice(part.start, part.end) : '');
  const replaceWith = (...replacements: string[]) =>
    replacements.map((replacement) => ({ start, end, replacement }));
  switch (node.type) {
    case 'BinaryExpression':
    case 'LogicalExpression': {
      const operator = OPERATORS[String(node.operator)];
      if (operator === undefined || (node.operator === '+' && [node.left, node.right].some(isText)))
        return [];
      return replaceWith(`(${textOf(node.left)}) ${operator} (${textOf(node.right)})`);
    }
    case 'UnaryExpression':
      return node.operator === '!' ? replaceWith(textOf(node.argument)) : [];
    case 'IfStatement':
    case 'ConditionalExpression':
      return isNode(node.test)
        ? ['true', 'false'].map((replacement) => ({ ...rangeOf(node.test as Node), replacement }))
        : [];
    case 'WhileStatement':
      return [{ ...rangeOf(node.test as Node), replacement: 'false' }];
    case 'CallExpression': {
      const callee = node.callee as Node;
      const property = callee.property;
      const method = isNode(property) && callee.computed !== true ? METHODS.get(textOf(property)) : undefined;
      if (inChain || method === undefined || !isNode(property)) return [];
      return replaceWith(source.slice(start, property.start) + method + source.slice(property.end, end));
    }
    case 'Literal':
      return replaceWith(...literalsFor(node.value));
    case 'ExpressionStatement':
      return node.directive ? [] : [{ start, end, replacement: null }];
    case 'ContinueStatement':
    case 'BreakStatement':
      return [{ start, end, replacement: null }];
    default:
      return [];
  }
}

function literalsFor(value: unknown): string[] {
  if (typeof value === 'boolean') return [String(!value)];
  if (typeof value === 'number') return [String(value + 1)];
  if (typeof value === 'string') return [value === '' ? '"mutant"' : '""'];
  return [];
}

function isText(node: unknown): boolean {
  return isNode(node) && (node.type === 'TemplateLiteral' || typeof node.value === 'string');
}

function rangeOf({ start, end }: Node): { start: number; end: number } {
  return { start, end };
}

/** The source with all mutants, each active only if `globalThis.mutant(id)` is true, so that a file is transformed once. */
export function withMutants(source: string, mutants: readonly (Mutant & { id: number })[]): string {
  const sorted = mutants.toSorted((a, b) => a.start - b.start || b.end - a.end);
  let next = 0;

  function emit(from: number, to: number): string {
    let text = '';
    let at = from;
    for (let mutant = sorted[next]; mutant !== undefined && mutant.end <= to; mutant = sorted[next]) {
      const { start, end } = mutant;
      const here = [];
      for (; sorted[next]?.start === start && sorted[next]?.end === end; next += 1) here.push(sorted[next]);
      text += source.slice(at, start);
      let inner = emit(start, end);
      for (const each of here) {
        if (each === undefined) continue;
        const isOn = `globalThis.mutant(${each.id})`;
        inner =
          each.replacement === null
            ? `{ if (!${isOn}) { ${inner} } }`
            : `(${isOn} ? (${each.replacement}) : (${inner}))`;
      }
      text += inner;
      at = end;
    }
    return text + source.slice(at, to);
  }
  return emit(0, source.length);
}

/**
 * Puts dot-product.wat, assembled, into dot-product.ts: `node scripts/build-dot-product.ts`. An assembler for the
 * few instructions that the file uses; a real one would be a dependency of several megabytes for 230 bytes.
 */
import { readFile, writeFile } from 'node:fs/promises';

const PLACE = new URL('../src/adapters/sqlite/', import.meta.url);
const [SOURCE, TARGET] = [new URL('dot-product.wat', PLACE), new URL('dot-product.ts', PLACE)];

/** The text between parentheses: words, strings and further lists. */
type Expression = string | Expression[];
type Names = readonly (string | null)[];

const TYPES: Record<string, number> = { i32: 0x7f, v128: 0x7b };
const [FUNCTION_TYPE, NO_RESULT, END] = [0x60, 0x40, 0x0b];
const [BLOCK, LOOP, BRANCH, BRANCH_IF] = [0x02, 0x03, 0x0c, 0x0d];
const LOCALS: Record<string, number> = { 'local.get': 0x20, 'local.set': 0x21 };
/** Those that take nothing but operands. The loads and stores have their natural alignment and no offset. */
const PLAIN: Record<string, number[]> = {
  'i32.lt_u': [0x49],
  'i32.ge_s': [0x4e],
  'i32.add': [0x6a],
  'i32.shl': [0x74],
  'i32.store': [0x36, 2, 0],
  'v128.load': [0xfd, 0x00, 4, 0],
  'i16x8.extend_low_i8x16_s': [0xfd, 0x87, 0x01],
  'i16x8.extend_high_i8x16_s': [0xfd, 0x88, 0x01],
  'i32x4.add': [0xfd, 0xae, 0x01],
  'i32x4.dot_i16x8_s': [0xfd, 0xba, 0x01],
};
const [MEMORY_EXPORT, FUNCTION_EXPORT] = [2, 0];

/** A module of one memory and one function, both exported, as bytes. Throws at what it does not know. */
export function assemble(source: string): Uint8Array {
  const [[, memory, code] = []] = parse(source) as Expression[][];
  const [, [, memoryName] = [], pages] = memory as [string, string[], string];
  const [, [, functionName] = [], ...parts] = code as [string, string[], ...Expression[]];
  const declared = (keyword: string) =>
    parts
      .filter((part): part is string[] => part[0] === keyword)
      .map(([, name = '', type = '']) => ({ name, type: typeOf(type) }));
  const [params, locals] = [declared('param'), declared('local')];
  const names = [...params, ...locals].map(({ name }) => name);
  const body = parts.slice(names.length).flatMap((part) => instruction(part, names, []));
  const localGroups = [...Map.groupBy(locals, ({ type }) => type)].map(([type, group]) => [
    ...unsigned(group.length),
    type,
  ]);
  return Uint8Array.from([
    ...Buffer.from('\0asm'),
    ...[1, 0, 0, 0],
    ...section(1, [[FUNCTION_TYPE, ...vector(params.map(({ type }) => [type])), 0]]),
    ...section(3, [[0]]),
    ...section(5, [[0, ...unsigned(Number(pages))]]),
    ...section(7, [
      [...text(memoryName), MEMORY_EXPORT, 0],
      [...text(functionName), FUNCTION_EXPORT, 0],
    ]),
    ...section(10, [sized([...vector(localGroups), ...body, END])]),
  ]);
}

/** The text of dot-product.ts with its binary made of the given source. */
export function withBinary(target: string, source: string): string {
  const binary = Buffer.from(assemble(source)).toString('base64');
  return target.replace(/(?<=const BINARY =\s+')[^']*(?=')/, binary);
}

function parse(source: string): Expression[] {
  const root: Expression[] = [];
  const open = [root];
  for (const [token] of source.replace(/;;.*/g, '').matchAll(/[()]|"[^"]*"|[^\s()]+/g)) {
    if (token === '(') {
      const list: Expression[] = [];
      open.at(-1)?.push(list);
      open.push(list);
    } else if (token === ')') open.pop();
    else open.at(-1)?.push(token);
  }
  return root;
}

/** Operands come before what works on them; `labels` are those of the blocks around, the innermost first. */
function instruction(expression: Expression, names: Names, labels: Names): number[] {
  const [name = '', ...rest] = expression as [string, ...Expression[]];
  const all = (operands: Expression[], within = labels) =>
    operands.flatMap((operand) => instruction(operand, names, within));
  if (name === 'block' || name === 'loop') {
    const [label, ...inner] = rest;
    const opening = name === 'block' ? BLOCK : LOOP;
    return [opening, NO_RESULT, ...all(inner, [String(label), ...labels]), END];
  }
  if (name === 'br' || name === 'br_if') {
    const [label, ...operands] = rest;
    return [...all(operands), name === 'br' ? BRANCH : BRANCH_IF, indexIn(labels, label)];
  }
  const local = LOCALS[name];
  if (local !== undefined) {
    const [variable, ...operands] = rest;
    return [...all(operands), local, indexIn(names, variable)];
  }
  if (name === 'i32.const') return [0x41, ...signed(Number(rest[0]))];
  if (name === 'v128.const') {
    const [, ...lanes] = rest.map(Number);
    return [0xfd, 0x0c, ...new Uint8Array(Int32Array.from(lanes).buffer)];
  }
  if (name === 'i32x4.extract_lane') {
    const [lane, ...operands] = rest;
    return [...all(operands), 0xfd, 0x1b, Number(lane)];
  }
  const plain = PLAIN[name];
  if (plain === undefined) throw new Error(`the assembler does not know ${name}`);
  return [...all(rest), ...plain];
}

function indexIn(names: Names, name: Expression | undefined): number {
  const index = names.indexOf(String(name));
  if (index < 0) throw new Error(`there is no ${name}`);
  return index;
}

function typeOf(name: string): number {
  const type = TYPES[name];
  if (type === undefined) throw new Error(`the assembler does not know the type ${name}`);
  return type;
}

function section(id: number, entries: readonly number[][]): number[] {
  return [id, ...sized(vector(entries))];
}

function vector(entries: readonly number[][]): number[] {
  return [...unsigned(entries.length), ...entries.flat()];
}

function text(quoted = ''): number[] {
  return sized([...Buffer.from(quoted.slice(1, -1))]);
}

function sized(bytes: readonly number[]): number[] {
  return [...unsigned(bytes.length), ...bytes];
}

/** Seven bits at a time, the lowest first; the eighth tells that more follow. */
function unsigned(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)];
}

/** As `unsigned`, but the last of the seven bits is the sign. */
function signed(value: number): number[] {
  return value >= -0x40 && value < 0x40 ? [value & 0x7f] : [(value & 0x7f) | 0x80, ...signed(value >> 7)];
}

if (import.meta.main) {
  const [target, source] = await Promise.all([TARGET, SOURCE].map((file) => readFile(file, 'utf8')));
  await writeFile(TARGET, withBinary(target ?? '', source ?? ''));
}

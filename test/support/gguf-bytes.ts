/** Writes GGUF files: enough of the format to make a model, or one that claims what cannot be. */

type Entry = string | boolean | Whole | Real | Texts | Reals | Wholes;
interface Whole {
  u32: number;
}
interface Real {
  f32: number;
}
interface Texts {
  texts: readonly string[];
}
interface Reals {
  reals: readonly number[];
}
interface Wholes {
  wholes: readonly number[];
}

export interface GgufTensor {
  name: string;
  /** The length of a row first. */
  dimensions: readonly number[];
  values: Float32Array;
}

export interface GgufContent {
  version?: number;
  metadata: Readonly<Record<string, Entry>>;
  tensors?: readonly GgufTensor[];
}

const ALIGNMENT = 32;
const U32 = 4;
const I32 = 5;
const F32 = 6;
const BOOLEAN = 7;
const STRING = 8;
const LIST = 9;

export function ggufBytes({ version = 3, metadata, tensors = [] }: GgufContent): Buffer {
  const entries = Object.entries(metadata);
  let offset = 0;
  const infos = tensors.map(({ name, dimensions, values }) => {
    const info = [text(name), u32(dimensions.length), ...dimensions.map(u64), u32(0), u64(offset)];
    offset += padded(values.byteLength);
    return Buffer.concat(info);
  });
  const head = Buffer.concat([
    Buffer.from('GGUF'),
    u32(version),
    u64(tensors.length),
    u64(entries.length),
    ...entries.flatMap(([key, entry]) => [text(key), typed(entry)]),
    ...infos,
  ]);
  const data = tensors.map(({ values }) =>
    fill(Buffer.from(values.buffer, values.byteOffset, values.byteLength)),
  );
  return Buffer.concat([fill(head), ...data]);
}

function typed(entry: Entry): Buffer {
  if (typeof entry === 'string') return Buffer.concat([u32(STRING), text(entry)]);
  if (typeof entry === 'boolean') return Buffer.concat([u32(BOOLEAN), Buffer.from([Number(entry)])]);
  if ('u32' in entry) return Buffer.concat([u32(U32), u32(entry.u32)]);
  if ('f32' in entry) return Buffer.concat([u32(F32), f32(entry.f32)]);
  if ('texts' in entry) return list(STRING, entry.texts.map(text));
  if ('reals' in entry) return list(F32, entry.reals.map(f32));
  return list(I32, entry.wholes.map(u32));
}

function list(type: number, items: readonly Buffer[]): Buffer {
  return Buffer.concat([u32(LIST), u32(type), u64(items.length), ...items]);
}

function text(value: string): Buffer {
  return Buffer.concat([u64(Buffer.byteLength(value)), Buffer.from(value)]);
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

function f32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return bytes;
}

function fill(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc(padded(bytes.length) - bytes.length)]);
}

function padded(length: number): number {
  return Math.ceil(length / ALIGNMENT) * ALIGNMENT;
}

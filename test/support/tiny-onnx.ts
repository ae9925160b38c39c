/** Encodes ONNX models of a few nodes, valid or not, without a library. */

export interface TinyNode {
  op: string;
  inputs: string[];
  outputs: string[];
  /** Integers and lists of integers. */
  attributes?: Record<string, number | number[]>;
}

export interface TinyModel {
  /** Integer inputs with a batch and a length dimension. */
  inputs: string[];
  nodes: TinyNode[];
  /** Integer tensors by name. */
  constants?: Record<string, number[]>;
  /** `type` defaults to float32. */
  outputs: { name: string; dimensions: number; type?: number }[];
}

const FLOAT = 1;
const INT64 = 7;
const ATTRIBUTE_INT = 2;
const ATTRIBUTE_INTS = 7;
const IR_VERSION = 8;
const OPSET = 17;

export function encodeTinyModel({ inputs, nodes, constants = {}, outputs }: TinyModel): Buffer {
  const graph = [
    ...nodes.map((node) => field(1, nodeOf(node))),
    field(2, text('tiny')),
    ...Object.entries(constants).map(([name, values]) =>
      field(5, [
        number(1, values.length),
        number(2, INT64),
        ...values.map((value) => number(7, value)),
        field(8, text(name)),
      ]),
    ),
    ...inputs.map((name) => field(11, valueInfo(name, INT64, 2))),
    ...outputs.map(({ name, dimensions, type = FLOAT }) => field(12, valueInfo(name, type, dimensions))),
  ];
  return Buffer.concat([
    number(1, IR_VERSION),
    field(7, graph),
    field(8, [field(1, text('')), number(2, OPSET)]),
  ]);
}

function nodeOf({ op, inputs, outputs, attributes = {} }: TinyNode): Buffer[] {
  return [
    ...inputs.map((name) => field(1, text(name))),
    ...outputs.map((name) => field(2, text(name))),
    field(4, text(op)),
    ...Object.entries(attributes).map(([name, value]) =>
      field(5, [
        field(1, text(name)),
        ...(Array.isArray(value) ? value.map((each) => number(8, each)) : [number(3, value)]),
        number(20, Array.isArray(value) ? ATTRIBUTE_INTS : ATTRIBUTE_INT),
      ]),
    ),
  ];
}

function valueInfo(name: string, type: number, dimensions: number): Buffer[] {
  const shape = Array.from({ length: dimensions }, (_, index) =>
    field(1, [field(2, text(`${name}_${index}`))]),
  );
  return [field(1, text(name)), field(2, [field(1, [number(1, type), field(2, shape)])])];
}

function text(value: string): Buffer[] {
  return [Buffer.from(value)];
}

function number(tag: number, value: number): Buffer {
  return Buffer.concat([varint(tag << 3), varint(value)]);
}

function field(tag: number, parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([varint((tag << 3) | 2), varint(body.length), body]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  do {
    const more = rest > 127 ? 128 : 0;
    bytes.push((rest & 127) | more);
    rest = Math.floor(rest / 128);
  } while (rest > 0);
  return Buffer.from(bytes);
}

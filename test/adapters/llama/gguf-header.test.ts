import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readGgufHeader } from '../../../src/adapters/llama/gguf-header.ts';
import { type GgufContent, ggufBytes } from '../../support/gguf-bytes.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { tinyGguf, writeTinyGguf } from '../../support/tiny-gguf.ts';

async function fileOf(content: Uint8Array | string): Promise<string> {
  const path = join(await temporaryDirectory(), 'model.gguf');
  writeFileSync(path, content);
  return path;
}

/** What is said of a file, without where it lies. */
async function faultOf(content: Uint8Array | string): Promise<string> {
  return faultAt(await fileOf(content));
}

function faultAt(path: string): string {
  try {
    readGgufHeader(path);
  } catch (error) {
    const { kind, message } = error as { kind: string; message: string };
    return `${kind}: ${message.replaceAll(path, 'it')}`;
  }
  return 'none';
}

const { metadata, tensors = [] } = tinyGguf();
const llamaWith = (more: GgufContent['metadata']) =>
  ggufBytes({ metadata: { ...metadata, ...more }, tensors });

/** A file whose first entry is given byte by byte. */
function startingWith(entry: Buffer, { tensors = 0, entries = 1 } = {}): Buffer {
  const head = Buffer.alloc(24);
  head.write('GGUF');
  head.writeUInt32LE(3, 4);
  head.writeBigUInt64LE(BigInt(tensors), 8);
  head.writeBigUInt64LE(BigInt(entries), 16);
  return Buffer.concat([head, entry]);
}

const u64 = (value: bigint) => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes;
};
const u32 = (value: number) => Buffer.from(Uint32Array.of(value).buffer);
const key = Buffer.concat([u64(1n), Buffer.from('k')]);

test('the header tells what the model is, what it was made for and what a token of its context takes', async () => {
  const path = join(await temporaryDirectory(), 'tiny.gguf');
  const header = readGgufHeader(writeTinyGguf(path, { name: 'Small', contextLength: 8192 }));
  expect(header).toMatchObject({
    name: 'Small',
    architecture: 'llama',
    quantization: 'F32',
    contextLength: 8192,
    embeddingLength: 64,
    blockCount: 2,
    bytesPerToken: 2 * 2 * 2 * 64,
    parts: 1,
    fileBytes: ggufBytes(tinyGguf({ name: 'Small', contextLength: 8192 })).length,
  });
  expect(header.parameters).toBe(tensors.reduce((sum, { values }) => sum + values.length, 0));
  expect(header.chatTemplate).toContain("message['role']");
});

test('what a file does not say is undefined', async () => {
  const bare = ggufBytes({ version: 2, metadata: { 'general.architecture': 'bert' } });
  expect(readGgufHeader(await fileOf(bare))).toMatchObject({
    name: undefined,
    contextLength: undefined,
    bytesPerToken: undefined,
    chatTemplate: undefined,
    quantization: undefined,
    parameters: 0,
  });
});

test('heads that differ from layer to layer are added up', async () => {
  const path = await fileOf(llamaWith({ 'llama.attention.head_count_kv': { wholes: [4, 1] } }));
  expect(readGgufHeader(path).bytesPerToken).toBe(2 * (4 + 1) * (16 + 16));
});

test('a file that is no model says so, whatever it is instead', async () => {
  const directory = await temporaryDirectory();
  expect(await faultOf('{"not": "a model"}')).toBe('configuration_error: it is not a GGUF file.');
  expect(await faultOf('')).toBe('configuration_error: it is not a GGUF file.');
  expect(faultAt(directory)).toBe('configuration_error: it is not a file, so it is no model.');
  expect(faultAt(join(directory, 'none.gguf'))).toBe('configuration_error: There is no model file it.');
  const pipe = join(directory, 'pipe.gguf');
  execFileSync('mkfifo', [pipe]);
  expect(faultAt(pipe)).toBe('configuration_error: it is not a file, so it is no model.');
  mkdirSync(join(directory, 'folder.gguf'));
  expect(faultAt(join(directory, 'folder.gguf'))).toContain('is not a file');
});

test('another version of the format is told from a damaged file', async () => {
  expect(await faultOf(ggufBytes({ version: 1, metadata: {} }))).toBe(
    'configuration_error: it is a GGUF file of version 1, where versions 2 and 3 can be read.',
  );
});

test('a file that was cut says how much of it is there, wherever the cut is', async () => {
  const whole = ggufBytes(tinyGguf());
  expect(await faultOf(whole.subarray(0, whole.length - 4000))).toBe(
    `configuration_error: it is cut: ${whole.length - 4000} of its ${whole.length} bytes are there.`,
  );
  for (const length of [4, 7, 20, 100, 3000]) {
    expect(await faultOf(whole.subarray(0, length))).toBe(
      'configuration_error: it is cut: it ends within its header.',
    );
  }
});

test('claims that cannot be true are refused at once, and nothing is allocated for them', async () => {
  const endless = 2n ** 63n;
  const claims: [Buffer, string][] = [
    [startingWith(key, { entries: 2 ** 40 }), `it claims to have ${2 ** 40} entries`],
    [startingWith(key, { tensors: 2 ** 40 }), `it claims to have ${2 ** 40} tensors`],
    [startingWith(u64(endless)), `it claims a text of ${Number(endless)} bytes`],
    [startingWith(Buffer.concat([key, u32(99)])), 'it has a value of unknown type 99'],
    [startingWith(Buffer.concat([key, u32(9), u32(9), u64(1n), u32(0)])), 'it has a list of unknown type 9'],
    [
      ggufBytes({ metadata: { 'general.name': 'nameless' } }),
      'it does not say which architecture its model has',
    ],
    [llamaWith({ 'llama.context_length': { f32: Number.NaN } }), 'its llama.context_length is NaN'],
    [llamaWith({ 'llama.context_length': { u32: 0 } }), 'its llama.context_length is 0'],
    [llamaWith({ 'llama.context_length': 'long' }), 'its llama.context_length is no number'],
    [llamaWith({ 'general.alignment': { u32: 2 ** 31 } }), `its tensors are ${2 ** 31} bytes apart`],
    [
      ggufBytes({
        metadata,
        tensors: [{ name: 'x', dimensions: [1, 1, 1, 1, 1], values: new Float32Array(1) }],
      }),
      'a tensor of it has 5 dimensions',
    ],
    [
      ggufBytes({
        metadata,
        tensors: [{ name: 'x', dimensions: [2 ** 40, 2 ** 40], values: new Float32Array(1) }],
      }),
      'a tensor of it is larger than any file',
    ],
  ];
  for (const [bytes, reason] of claims) {
    expect(await faultOf(bytes)).toBe(`configuration_error: it is damaged: ${reason}.`);
  }
  const cut = 'configuration_error: it is cut: it ends within its header.';
  expect(await faultOf(startingWith(Buffer.concat([key, u32(9), u32(8), u64(endless)])))).toBe(cut);
  expect(await faultOf(startingWith(Buffer.concat([key, u32(9), u32(4), u64(endless)])))).toBe(cut);
});

test('a list without end in a file of terabytes is given up after the largest header there may be', async () => {
  const path = await fileOf(startingWith(Buffer.concat([key, u32(9), u32(8), u64(2n ** 40n)])));
  truncateSync(path, 2 ** 41);
  expect(faultAt(path)).toBe('configuration_error: it is damaged: its header has no end.');
});

test('a header whose bytes were changed is read or refused with a sentence, and never anything else', async () => {
  const whole = ggufBytes(tinyGguf());
  const headerBytes = whole.length - tensors.reduce((sum, { values }) => sum + values.byteLength, 0);
  const path = await fileOf(whole);
  const file = openSync(path, 'r+');
  onTestFinished(() => closeSync(file));
  for (let position = 0; position < headerBytes; position += 23) {
    const byte = whole[position] ?? 0;
    writeSync(file, Uint8Array.of(byte ^ 0xff), 0, 1, position);
    expect(faultAt(path)).toMatch(/^(none|configuration_error: .+\.)$/);
    writeSync(file, Uint8Array.of(byte), 0, 1, position);
  }
  expect(faultAt(path)).toBe('none');
});

import { closeSync, openSync, statSync } from 'node:fs';
import { AppError, messageOf } from '../../faults/app-error.ts';
import { createGgufCursor, type GgufCursor, numberBytes } from './gguf-cursor.ts';
import { quantizationName, tensorBytes } from './gguf-types.ts';

/** What a GGUF file says of the model in it. */
export interface GgufHeader {
  /** What its makers call it. */
  name: string | undefined;
  architecture: string;
  /** How many weights are in this file. */
  parameters: number;
  /** How they are stored, such as Q4_K_M. */
  quantization: string | undefined;
  /** How many tokens the model was made to read at once. */
  contextLength: number | undefined;
  embeddingLength: number | undefined;
  blockCount: number | undefined;
  /** Bytes that each token of the context takes in memory, at 16 bits a number; undefined where the file does not say. */
  bytesPerToken: number | undefined;
  /** How the turns of a conversation are written for it: a Jinja template. */
  chatTemplate: string | undefined;
  /** Into how many files it was split. */
  parts: number;
  fileBytes: number;
}

type Value = string | number | number[] | undefined;
type Metadata = ReadonlyMap<string, Value>;

const MOST_ENTRIES = 100_000;
const MOST_DIMENSIONS = 4;
const MOST_ALIGNMENT = 2 ** 20;
/** Lists of one number for each layer are read; vocabularies are passed over. */
const LONGEST_LIST = 4096;
const STRING = 8;
const LIST = 9;

/**
 * Reads the header of a GGUF file: a few megabytes at its start, whatever it weighs. Throws `configuration_error`, in a
 * sentence, for what is no such file, is damaged, or ends before its last tensor does.
 */
export function readGgufHeader(path: string): GgufHeader {
  // A pipe or a device would keep us waiting when it is opened.
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found?.isFile()) {
    throw new AppError(
      'configuration_error',
      found ? `${path} is not a file, so it is no model.` : `There is no model file ${path}.`,
    );
  }
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    return parseHeader(createGgufCursor(file, path), path);
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    throw new AppError('configuration_error', `${path} cannot be read (${messageOf(cause)}).`, { cause });
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function parseHeader(cursor: GgufCursor, path: string): GgufHeader {
  if (cursor.size < 4 || cursor.integer(4) !== Buffer.from('GGUF').readUInt32LE()) {
    throw new AppError('configuration_error', `${path} is not a GGUF file.`, {
      hint: 'A model in another format, such as safetensors, must be converted first.',
    });
  }
  const version = cursor.integer(4);
  if (version !== 2 && version !== 3) {
    throw new AppError(
      'configuration_error',
      `${path} is a GGUF file of version ${version}, where versions 2 and 3 can be read.`,
      { hint: 'Fetch a newer conversion of the model, made for little-endian machines.' },
    );
  }
  const tensors = count(cursor, 'tensors');
  const metadata = readMetadata(cursor, count(cursor, 'entries'));
  const { parameters, end } = readTensors(cursor, tensors, positive(cursor, metadata, 'general.alignment'));
  if (end > cursor.size) {
    throw new AppError(
      'configuration_error',
      `${path} is cut: ${cursor.size} of its ${end} bytes are there.`,
      { hint: 'Fetch it again.' },
    );
  }
  return { ...describe(cursor, metadata), parameters, fileBytes: cursor.size };
}

function count(cursor: GgufCursor, things: string): number {
  const claimed = cursor.integer(8);
  if (claimed > MOST_ENTRIES) throw cursor.damaged(`it claims to have ${claimed} ${things}`);
  return claimed;
}

function readMetadata(cursor: GgufCursor, entries: number): Metadata {
  const metadata = new Map<string, Value>();
  for (let index = 0; index < entries; index++) {
    const key = cursor.text();
    metadata.set(key, readValue(cursor, cursor.integer(4)));
  }
  return metadata;
}

function readValue(cursor: GgufCursor, type: number): Value {
  if (type === STRING) return cursor.text();
  if (type !== LIST) {
    if (numberBytes(type) === undefined) throw cursor.damaged(`it has a value of unknown type ${type}`);
    return cursor.number(type);
  }
  const itemType = cursor.integer(4);
  const length = cursor.integer(8);
  const itemBytes = numberBytes(itemType);
  if (itemType === STRING) {
    // Each takes eight bytes at least, so the end of the file ends this, too.
    for (let index = 0; index < length; index++) cursor.skip(cursor.integer(8));
    return undefined;
  }
  if (itemBytes === undefined) throw cursor.damaged(`it has a list of unknown type ${itemType}`);
  if (length <= LONGEST_LIST) return Array.from({ length }, () => cursor.number(itemType));
  cursor.skip(length * itemBytes);
  return undefined;
}

/** How many weights the tensors hold, and where in the file the last of them ends. */
function readTensors(cursor: GgufCursor, tensors: number, alignment = 32) {
  let parameters = 0;
  let length = 0;
  for (let index = 0; index < tensors; index++) {
    cursor.text();
    const dimensions = cursor.integer(4);
    if (dimensions > MOST_DIMENSIONS) throw cursor.damaged(`a tensor of it has ${dimensions} dimensions`);
    let weights = 1;
    for (let dimension = 0; dimension < dimensions; dimension++) weights *= cursor.integer(8);
    const bytes = tensorBytes(cursor.integer(4), weights);
    const end = cursor.integer(8) + bytes;
    parameters += weights;
    if (!Number.isSafeInteger(parameters) || !Number.isSafeInteger(end)) {
      throw cursor.damaged('a tensor of it is larger than any file');
    }
    length = Math.max(length, end);
  }
  if (alignment > MOST_ALIGNMENT) throw cursor.damaged(`its tensors are ${alignment} bytes apart`);
  return { parameters, end: Math.ceil(cursor.offset / alignment) * alignment + length };
}

function describe(cursor: GgufCursor, metadata: Metadata): Omit<GgufHeader, 'parameters' | 'fileBytes'> {
  const text = (key: string) => {
    const value = metadata.get(key);
    return typeof value === 'string' && value.trim() !== '' ? value : undefined;
  };
  const architecture = text('general.architecture');
  if (architecture === undefined) throw cursor.damaged('it does not say which architecture its model has');
  const number = (key: string) => positive(cursor, metadata, `${architecture}.${key}`);
  const embeddingLength = number('embedding_length');
  const blockCount = number('block_count');
  const fileType = metadata.get('general.file_type');
  const parts = metadata.get('split.count');
  return {
    name: text('general.name'),
    architecture,
    quantization: typeof fileType === 'number' ? quantizationName(fileType) : undefined,
    contextLength: number('context_length'),
    embeddingLength,
    blockCount,
    bytesPerToken: bytesPerToken(),
    chatTemplate: text('tokenizer.chat_template'),
    // Parts that were joined again claim to be none.
    parts: typeof parts === 'number' && parts > 1 ? parts : 1,
  };

  /** A key and a value for each head that keeps them, in each layer. */
  function bytesPerToken(): number | undefined {
    const heads = metadata.get(`${architecture}.attention.head_count`);
    const kept = metadata.get(`${architecture}.attention.head_count_kv`) ?? heads;
    if (typeof heads !== 'number' || kept === undefined || !embeddingLength || !blockCount) return undefined;
    const usual = embeddingLength / heads;
    const each = (number('attention.key_length') ?? usual) + (number('attention.value_length') ?? usual);
    const keptHeads = Array.isArray(kept)
      ? kept.reduce((sum, more) => sum + more, 0)
      : Number(kept) * blockCount;
    const bytes = 2 * keptHeads * each;
    return Number.isSafeInteger(Math.ceil(bytes)) && bytes > 0 ? Math.ceil(bytes) : undefined;
  }
}

/** Undefined where nothing is said. */
function positive(cursor: GgufCursor, metadata: Metadata, key: string): number | undefined {
  const value = metadata.get(key);
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value;
  throw cursor.damaged(`its ${key} is ${typeof value === 'number' ? value : 'no number'}`);
}

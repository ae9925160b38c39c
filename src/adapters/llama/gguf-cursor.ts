import { fstatSync, readSync } from 'node:fs';
import { AppError } from '../../faults/app-error.ts';

/** Bounds on what a file may claim, several times what the largest models need. */
const MOST_HEADER_BYTES = 64 * 2 ** 20;
const MOST_STRING_BYTES = 2 ** 20;
const PAGE_BYTES = 2 ** 18;

/** Reads an untrusted file from its start, in pages, and never more than a header may have. */
export interface GgufCursor {
  readonly size: number;
  readonly offset: number;
  /** Unsigned. Beyond 2^53 it is not exact. */
  integer(bytes: 4 | 8): number;
  number(type: number): number;
  text(): string;
  skip(bytes: number): void;
  /** The fault to throw for what cannot be right. */
  damaged(reason: string): AppError;
}

/** Bytes of a number or boolean by its type in the file; undefined for what is none. */
export function numberBytes(type: number): number | undefined {
  return [1, 1, 2, 2, 4, 4, 4, 1, undefined, undefined, 8, 8, 8][type];
}

export function createGgufCursor(file: number, path: string): GgufCursor {
  const { size } = fstatSync(file);
  let page = Buffer.alloc(0);
  let pageStart = 0;
  let offset = 0;

  function take(bytes: number): Buffer {
    const start = offset;
    skip(bytes);
    if (start < pageStart || offset > pageStart + page.length) {
      const wanted = Buffer.alloc(Math.max(bytes, Math.min(PAGE_BYTES, size - start)));
      page = wanted.subarray(0, readSync(file, wanted, 0, wanted.length, start));
      pageStart = start;
      if (page.length < bytes) throw cutFault(path);
    }
    return page.subarray(start - pageStart, offset - pageStart);
  }

  function skip(bytes: number): void {
    if (offset + bytes > size) throw cutFault(path);
    if (offset + bytes > MOST_HEADER_BYTES) throw damaged('its header has no end');
    offset += bytes;
  }

  function integer(bytes: 4 | 8): number {
    return bytes === 4 ? take(4).readUInt32LE() : Number(take(8).readBigUInt64LE());
  }

  const damaged = (reason: string) =>
    new AppError('configuration_error', `${path} is damaged: ${reason}.`, { hint: 'Fetch it again.' });

  return {
    size,
    get offset() {
      return offset;
    },
    integer,
    number(type) {
      const bytes = take(numberBytes(type) ?? 0);
      if (type === 6) return bytes.readFloatLE();
      if (type === 12) return bytes.readDoubleLE();
      if (type === 10) return Number(bytes.readBigUInt64LE());
      if (type === 11) return Number(bytes.readBigInt64LE());
      const signed = type === 1 || type === 3 || type === 5;
      return signed ? bytes.readIntLE(0, bytes.length) : bytes.readUIntLE(0, bytes.length);
    },
    text() {
      const bytes = integer(8);
      if (bytes > MOST_STRING_BYTES) throw damaged(`it claims a text of ${bytes} bytes`);
      return take(bytes).toString('utf8');
    },
    skip,
    damaged,
  };
}

function cutFault(path: string): AppError {
  return new AppError('configuration_error', `${path} is cut: it ends within its header.`, {
    hint: 'Fetch it again.',
  });
}

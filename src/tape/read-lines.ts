import { readSync } from 'node:fs';

const BLOCK = 1 << 20;

export interface Line {
  offset: number;
  /** Without the line feed. */
  bytes: Buffer;
  /** False for a last line that has no line feed. */
  ended: boolean;
}

/** The lines of an open file; never holds more than a block and the longest line. */
export function* readLines(descriptor: number): Generator<Line> {
  let position = 0;
  let offset = 0;
  let rest: Buffer[] = [];
  for (;;) {
    const block = Buffer.allocUnsafe(BLOCK);
    const length = readSync(descriptor, block, 0, BLOCK, position);
    if (length === 0) break;
    position += length;
    let start = 0;
    for (let end = block.indexOf(10); end >= 0 && end < length; end = block.indexOf(10, start)) {
      const bytes = Buffer.concat([...rest, block.subarray(start, end)]);
      yield { offset, bytes, ended: true };
      offset += bytes.length + 1;
      rest = [];
      start = end + 1;
    }
    if (start < length) rest.push(block.subarray(start, length));
  }
  if (rest.length > 0) yield { offset, bytes: Buffer.concat(rest), ended: false };
}

import type { Hash } from 'node:crypto';
import { open } from 'node:fs/promises';

/** Of a large file so many parts of such a size tell it from any other that is likely to lie there. */
const SAMPLES = 64;
const SAMPLE_BYTES = 64 * 1024;

/**
 * Adds to a hash what tells one file of weights from another: its size, and samples at equal distances, which takes no
 * longer for the largest of models. Files that differ in single weights alone may have the same.
 */
export async function addSamples(hash: Hash, path: string): Promise<void> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    hash.update(`\n${size}\n`);
    const step = Math.max(SAMPLE_BYTES, Math.floor(size / SAMPLES));
    const buffer = Buffer.alloc(SAMPLE_BYTES);
    for (let position = 0; position < size; position += step) {
      const { bytesRead } = await file.read(buffer, 0, SAMPLE_BYTES, position);
      hash.update(buffer.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}

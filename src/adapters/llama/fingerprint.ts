import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';

const HEAD_BYTES = 1 << 20;
const SAMPLES = 256;
const SAMPLE_BYTES = 1 << 14;

/**
 * Tells one file of weights from another: its size, its beginning, and samples at equal distances, which takes no longer
 * for the largest of models. Files that differ in single weights alone may have the same.
 */
export async function fingerprintOf(path: string): Promise<string> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const hash = createHash('sha256').update(`${size}\n`);
    const take = async (position: number, length: number) => {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
      hash.update(buffer.subarray(0, bytesRead));
    };
    await take(0, HEAD_BYTES);
    for (let sample = 1; sample <= SAMPLES; sample += 1) {
      await take(Math.max(0, Math.floor((size / SAMPLES) * sample) - SAMPLE_BYTES), SAMPLE_BYTES);
    }
    return `gguf-${hash.digest('hex').slice(0, 32)}`;
  } finally {
    await file.close();
  }
}

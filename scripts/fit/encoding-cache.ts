import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EncodedText, TokenEncoder } from '../../src/ports/token-encoder.ts';

/**
 * An encoder that caches its results in a directory, as 16-bit floats. New results are rounded too, so that a fit gives
 * the same weights with and without the cache.
 */
export function createEncodingCache(encoder: TokenEncoder, directory: string): TokenEncoder {
  const { id, dimensions } = encoder;
  async function encode(text: string, signal?: AbortSignal): Promise<EncodedText> {
    const name = createHash('sha256').update(`${id}\n${text}`).digest('hex');
    const folder = join(directory, name.slice(0, 2));
    const path = join(folder, name);
    const kept = await readFile(path).catch(() => null);
    if (kept !== null) return unpack(kept, dimensions);
    const [encoded] = await encoder.encodeTokens([text], signal);
    const bytes = pack(encoded as EncodedText);
    await mkdir(folder, { recursive: true });
    await writeFile(`${path}.partial`, bytes);
    await rename(`${path}.partial`, path);
    return unpack(bytes, dimensions);
  }
  return {
    id,
    dimensions,
    async encodeTokens(texts, signal) {
      const all: EncodedText[] = [];
      for (const text of texts) all.push(await encode(text, signal));
      return all;
    },
  };
}

function pack({ starts, ends, vector, states }: EncodedText): Buffer {
  const parts = [Uint32Array.of(starts.length), starts, ends, vector, new Float16Array(states)];
  return Buffer.concat(
    parts.map(({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength)),
  );
}

function unpack(kept: Buffer, dimensions: number): EncodedText {
  // The views below need their own alignment.
  const { buffer } = Uint8Array.from(kept);
  const [tokens = 0] = new Uint32Array(buffer, 0, 1);
  const starts = new Uint32Array(buffer, 4, tokens);
  const ends = new Uint32Array(buffer, 4 + 4 * tokens, tokens);
  const vector = new Float32Array(buffer, 4 + 8 * tokens, dimensions);
  const states = new Float32Array(
    new Float16Array(buffer, 4 + 8 * tokens + 4 * dimensions, tokens * dimensions),
  );
  return { starts, ends, vector, states };
}

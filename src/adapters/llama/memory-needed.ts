import type { GgufHeader } from './gguf-header.ts';
import { SEQUENCES } from './shared-models.ts';

/** For what is computed between reading a prompt and the next token. */
const WORKING_BYTES = 128 * 2 ** 20;

/** What a model takes in memory: its file, the context that was asked for, and some to work with. An estimate. */
export function memoryNeeded(
  { fileBytes, bytesPerToken = 0 }: Pick<GgufHeader, 'fileBytes' | 'bytesPerToken'>,
  contextTokens: number,
): number {
  return fileBytes + bytesPerToken * contextTokens * SEQUENCES + WORKING_BYTES;
}

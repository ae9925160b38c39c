import { createHash } from 'node:crypto';

/** A UUID (version 8) of a document's url and a chunk's position: the same on every machine and for every store. */
export function chunkId(url: string, chunkIndex: number): string {
  const hex = createHash('sha256').update(`${url}\n${chunkIndex}`).digest('hex');
  const variant = ((Number.parseInt(hex[16] ?? '0', 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

import { createHash } from 'node:crypto';

/** The fold of a group. */
export function foldOf(group: string, folds: number): string {
  return String(createHash('sha256').update(group).digest().readUInt32BE(0) % folds);
}

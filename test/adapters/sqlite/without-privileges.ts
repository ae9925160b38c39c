import { chmodSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const NOBODY = 65534;

/** Runs `work` while a directory and its files are read-only for this process, even if it runs as root. */
export async function withoutPrivileges(directory: string, work: () => Promise<void>): Promise<void> {
  for (const file of readdirSync(directory)) chmodSync(join(directory, file), 0o444);
  chmodSync(directory, 0o555);
  const isRoot = process.geteuid?.() === 0;
  try {
    if (isRoot) process.seteuid?.(NOBODY);
    await work();
  } finally {
    if (isRoot) process.seteuid?.(0);
    chmodSync(directory, 0o755);
  }
}

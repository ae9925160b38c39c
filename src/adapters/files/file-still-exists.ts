import { access } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/** Whether the document at this URI is still there. Only files can be looked up; anything else counts as there. */
export async function fileStillExists(uri: string): Promise<boolean> {
  if (!uri.startsWith('file:')) return true;
  return access(fileURLToPath(uri)).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT' && error.code !== 'ENOTDIR',
  );
}

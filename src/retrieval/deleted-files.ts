import { existsSync } from 'node:fs';

/**
 * Whether an ingested file was deleted. False if its root directory does not exist either: then it was ingested on
 * another machine, or the whole directory was moved.
 */
export function isFileDeleted({ url, uri }: { url: string; uri?: string | undefined }): boolean {
  if (uri === undefined || !uri.startsWith('file:') || existsSync(new URL(uri))) return false;
  const depth = /^https?:/i.test(url) ? 0 : url.split('/').length - 1;
  return existsSync(new URL(`./${'../'.repeat(depth)}`, uri));
}

import { existsSync } from 'node:fs';

/**
 * Whether a file that was indexed here is no longer there. Where what it was found under is not there either, it was
 * indexed on another machine or moved with all the others, and nothing can be told.
 */
export function fileIsGone({ url, uri }: { url: string; uri?: string | undefined }): boolean {
  if (uri === undefined || !uri.startsWith('file:') || existsSync(new URL(uri))) return false;
  const above = /^https?:/i.test(url) ? 0 : url.split('/').length - 1;
  return existsSync(new URL(`./${'../'.repeat(above)}`, uri));
}

import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';

export interface PageFile {
  body: Uint8Array<ArrayBuffer>;
  type: string;
  etag: string;
  /** Its name changes with its content. */
  immutable: boolean;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
};

/**
 * The files of the page by the path they are served under. They are read once: a request is looked up among them
 * and never becomes a path. Empty if the page was not built.
 */
export async function readPageFiles(directory: string): Promise<Map<string, PageFile>> {
  const files = new Map<string, PageFile>();
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const name = relative(directory, path).split(sep).join('/');
    const body = new Uint8Array(await readFile(path));
    files.set(encodeURI(`/${name}`), {
      body,
      type: TYPES[extname(name)] ?? 'application/octet-stream',
      etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`,
      immutable: /[-.][\w-]{8,}\.\w+$/.test(name) && name.startsWith('assets/'),
    });
  }
  const index = files.get('/index.html');
  if (index !== undefined) files.set('/', index);
  return files;
}

import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { Hono } from 'hono';
import { getMimeType } from 'hono/utils/mime';

export interface PageFile {
  body: Uint8Array<ArrayBuffer>;
  type: string;
  etag: string;
  /** The file name contains a hash of the content. */
  immutable: boolean;
}

const YEAR = 31_536_000;
const NO_PAGE = `citeloop is running, but this installation does not include the web page.
API: POST /v1/chat/completions, POST /v1/responses, POST /api/ask.
`;

/**
 * The files of the web page by URL path, read once. Requests are looked up in this map and never become a file path.
 * Empty if the page was not built.
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
      type: getMimeType(name) ?? 'application/octet-stream',
      etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`,
      immutable: /[-.][\w-]{8,}\.\w+$/.test(name) && name.startsWith('assets/'),
    });
  }
  const index = files.get('/index.html');
  if (index !== undefined) files.set('/', index);
  return files;
}

/** Serves the web page, or a plain text if it is missing. */
export function createPageRoutes(files: ReadonlyMap<string, PageFile>): Hono {
  const app = new Hono();
  if (!files.has('/')) app.get('/', (context) => context.text(NO_PAGE));
  app.get('*', async (context, next) => {
    const file = files.get(context.req.path);
    if (file === undefined) return next();
    const headers = {
      etag: file.etag,
      'cache-control': file.immutable ? `public, max-age=${YEAR}, immutable` : 'no-cache',
    };
    if (context.req.header('if-none-match') === file.etag) return context.body(null, 304, headers);
    return context.body(file.body, 200, { ...headers, 'content-type': file.type });
  });
  return app;
}

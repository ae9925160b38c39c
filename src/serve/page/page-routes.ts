import { Hono } from 'hono';
import type { PageFile } from './page-files.ts';

const YEAR = 31_536_000;
const NO_PAGE = `citeloop is running, but its page is not part of this installation.
The API is: POST /v1/chat/completions, POST /v1/responses, POST /api/ask.
`;

/** The files of the page, and a line of text where it is missing. */
export function pageRoutes(files: ReadonlyMap<string, PageFile>): Hono {
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

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Hono } from 'hono';
import * as z from 'zod';
import { POLICIES } from '../../domain/choices.ts';
import { readFields } from '../http/read-request.ts';
import { RequestFault } from '../http/request-fault.ts';
import type { ApiOptions } from './kept-session.ts';

const MAX_AROUND = 10;
const around = z.coerce.number().int().min(0).max(MAX_AROUND).default(2);
const collectionSchema = z.object({ collection: z.string().optional() });
const sourceSchema = z.object({ collection: z.string().optional(), before: around, after: around });

interface About {
  version: string;
  policy: string;
  /** Whether routes want a token. */
  token: boolean;
}

/** What can be asked about, and the passages that answers point at. Only what was ingested can be read. */
export function sourceRoutes({ collections, model }: ApiOptions, about: About): Hono {
  const app = new Hono();

  app.get('/about', (context) =>
    context.json({ ...about, model, policies: POLICIES, collection: collections.defaultName }),
  );

  app.get('/collections', async (context) =>
    context.json({ default: collections.defaultName, collections: await collections.describe() }),
  );

  // The file that a passage was ingested from, if it still is that file: a collection that others can write to must not
  // open any file of this machine by its name. As a page it could run, so whatever it is, it is text or a PDF.
  app.get('/files/:chunkId', async (context) => {
    const { collection } = readFields(collectionSchema, context.req.query());
    const { store } = await collections.open(collection);
    const [chunk] = await store.chunks([context.req.param('chunkId')]);
    const uri = chunk?.uri?.startsWith('file:') ? chunk.uri : null;
    const bytes = uri === null ? null : await readFile(fileURLToPath(uri)).catch(() => null);
    if (uri === null || bytes === null) {
      throw new RequestFault(404, 'The file is not on the machine that serves.', { code: 'file_not_found' });
    }
    const [ingested] = await store.read([uri]);
    if (ingested?.document.contentHash !== createHash('sha256').update(bytes).digest('hex')) {
      throw new RequestFault(404, 'The file has changed since it was ingested.', { code: 'file_changed' });
    }
    const type = /\.pdf$/i.test(uri) ? 'application/pdf' : 'text/plain; charset=utf-8';
    return context.body(new Uint8Array(bytes), 200, {
      'content-type': type,
      'content-security-policy': 'sandbox',
      'x-content-type-options': 'nosniff',
    });
  });

  app.get('/sources/:chunkId', async (context) => {
    const { collection, before, after } = readFields(sourceSchema, context.req.query());
    const chunkId = context.req.param('chunkId');
    const { name, store } = await collections.open(collection);
    const passages = await store.neighbours(chunkId, before, after);
    const cited = passages.find((passage) => passage.chunkId === chunkId);
    if (cited === undefined) {
      throw new RequestFault(404, 'There is no such passage in the collection any more.', {
        code: 'source_not_found',
      });
    }
    const { url, title, module, chapter } = cited;
    return context.json({
      collection: name,
      chunkId,
      url,
      title,
      module,
      chapter,
      passages: passages.map(({ chunkId: id, chunkIndex, headings, location, text, contentHash }) => ({
        chunkId: id,
        chunkIndex,
        headings,
        location,
        text,
        contentHash,
        isCited: id === chunkId,
      })),
    });
  });
  return app;
}

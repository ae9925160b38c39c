import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Hono } from 'hono';
import * as z from 'zod';
import { RETRIEVAL_POLICIES } from '../../domain/setting-choices.ts';
import { HttpError } from '../http/http-error.ts';
import { parseFields } from '../http/parse-body.ts';
import type { ApiOptions } from './session-access.ts';

const around = z.coerce.number().int().min(0).max(10).default(2);
const collectionSchema = z.object({ collection: z.string().optional() });
const sourceSchema = collectionSchema.extend({ before: around, after: around });

/** Describes the server and its collections, and reads passages and files that were ingested. */
export function createSourceRoutes({ collections, model }: ApiOptions, about: Record<string, unknown>): Hono {
  const app = new Hono();

  app.get('/about', (context) =>
    context.json({ ...about, model, policies: RETRIEVAL_POLICIES, collection: collections.defaultName }),
  );

  app.get('/collections', async (context) =>
    context.json({ default: collections.defaultName, collections: await collections.describe() }),
  );

  // Sends the file of a passage only if its hash is the ingested one: a collection that others can write to must not
  // give access to other files of this machine. Always text or PDF, so that no file runs as a web page.
  app.get('/files/:chunkId', async (context) => {
    const { collection } = parseFields(collectionSchema, context.req.query());
    const { store } = await collections.open(collection);
    const [chunk] = await store.chunks([context.req.param('chunkId')]);
    const uri = chunk?.uri?.startsWith('file:') ? chunk.uri : null;
    const bytes = uri === null ? null : await readFile(fileURLToPath(uri)).catch(() => null);
    if (uri === null || bytes === null) {
      throw new HttpError(404, 'file_not_found', 'The file is not on the server.');
    }
    const [ingested] = await store.read([uri]);
    if (ingested?.document.contentHash !== createHash('sha256').update(bytes).digest('hex')) {
      throw new HttpError(404, 'file_changed', 'The file has changed since it was ingested.');
    }
    const type = /\.pdf$/i.test(uri) ? 'application/pdf' : 'text/plain; charset=utf-8';
    return context.body(new Uint8Array(bytes), 200, {
      'content-type': type,
      'content-security-policy': 'sandbox',
      'x-content-type-options': 'nosniff',
    });
  });

  app.get('/sources/:chunkId', async (context) => {
    const { collection, before, after } = parseFields(sourceSchema, context.req.query());
    const chunkId = context.req.param('chunkId');
    const { name, store } = await collections.open(collection);
    const passages = await store.neighbours(chunkId, before, after);
    const cited = passages.find((passage) => passage.chunkId === chunkId);
    if (cited === undefined) {
      throw new HttpError(404, 'source_not_found', 'The passage is no longer in the collection.');
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

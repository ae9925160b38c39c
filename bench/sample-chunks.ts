import { pathToFileURL } from 'node:url';
import { createDocumentParser } from '../src/adapters/documents/parse-document.ts';
import { chunkDocument } from '../src/ingest/chunk-document.ts';
import type { Embedder } from '../src/ports/embedder.ts';
import { chapters } from './sample-book.ts';

/** What is embedded of the sample book, evenly picked: chunks of all lengths. */
export async function sampleChunks(count: number, { maxTokens, countTokens }: Embedder): Promise<string[]> {
  const parse = createDocumentParser();
  const texts: string[] = [];
  for (const { path, text } of await chapters()) {
    const bytes = Buffer.from(text);
    const parsed = await parse({ uri: pathToFileURL(path).href, mediaType: 'markdown', bytes });
    const chunks = chunkDocument(parsed, { title: parsed.title ?? path, maxTokens, countTokens });
    texts.push(...chunks.map((chunk) => chunk.embedded));
  }
  return Array.from({ length: Math.min(count, texts.length) }, (_, index) =>
    String(texts[Math.floor((index * texts.length) / Math.min(count, texts.length))]),
  );
}

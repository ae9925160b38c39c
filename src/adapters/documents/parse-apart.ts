import { connectToWorker, startWorker } from '../../async/worker-channel.ts';
import type { ParsedDocument, RawDocument } from '../../domain/document.ts';
import type { DocumentParser } from '../../ports/loader.ts';
import { createDocumentParser } from './parse-document.ts';

/** Larger documents are parsed in a worker, because parsing them blocks for too long to wait for. */
const WORKER_MIN_BYTES = 512 * 1024;

/** Parses all supported formats. Parsing a large document stops at once when the signal is aborted. */
export function createInterruptibleParser(): DocumentParser {
  const parse = createDocumentParser();
  return (document, signal) =>
    document.bytes.length < WORKER_MIN_BYTES ? parse(document) : parseInWorker(document, signal);
}

async function parseInWorker(
  document: RawDocument,
  signal: AbortSignal | undefined,
): Promise<ParsedDocument> {
  signal?.throwIfAborted();
  const worker = startWorker(import.meta.url, 'parse-worker');
  const channel = connectToWorker<RawDocument, ParsedDocument>(worker);
  const stop = () => channel.rejectAll(signal?.reason);
  signal?.addEventListener('abort', stop);
  try {
    return await channel.request(document);
  } finally {
    signal?.removeEventListener('abort', stop);
    await worker.terminate();
  }
}

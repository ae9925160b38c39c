import { Worker } from 'node:worker_threads';
import type { ParsedDocument, RawDocument } from '../../domain/document.ts';
import { type FaultMessage, fromFaultMessage } from '../../faults/fault-message.ts';
import type { DocumentParser } from '../../ports/loader.ts';
import { createDocumentParser } from './parse-document.ts';

export type ParseAnswer = { parsed: ParsedDocument } | { fault: FaultMessage };

/** Reading more than this takes so long that nobody should have to wait for it to end. */
const LARGE_BYTES = 512 * 1024;

/** Reads every format we know; large documents in a thread of their own, which ends at once when the signal is raised. */
export function createInterruptibleParser(): DocumentParser {
  const parse = createDocumentParser();
  return (document, signal) =>
    document.bytes.length < LARGE_BYTES ? parse(document) : parseApart(document, signal);
}

async function parseApart(document: RawDocument, signal: AbortSignal | undefined): Promise<ParsedDocument> {
  signal?.throwIfAborted();
  // What the program was started with need not suit a file: `--input-type`, say.
  const worker = new Worker(workerFile(), { workerData: document, execArgv: [] });
  const { promise, resolve, reject } = Promise.withResolvers<ParsedDocument>();
  const stop = () => reject(signal?.reason);
  signal?.addEventListener('abort', stop);
  worker.on('message', (answer: ParseAnswer) => {
    if ('parsed' in answer) resolve(answer.parsed);
    else reject(fromFaultMessage(answer.fault));
  });
  worker.on('error', reject);
  worker.on('exit', () => reject(new Error('the thread that reads the document ended early')));
  try {
    return await promise;
  } finally {
    signal?.removeEventListener('abort', stop);
    await worker.terminate();
  }
}

/** Beside this file, as a source or as a part of the bundle. */
function workerFile(): URL {
  return new URL(
    import.meta.url.endsWith('.ts') ? './parse-worker.ts' : './parse-worker.js',
    import.meta.url,
  );
}

import { serialize } from 'node:v8';
import { isMainThread, Worker } from 'node:worker_threads';
import { createDocumentParser } from '../adapters/documents/parse-document.ts';
import { connectToParent } from '../async/worker-channel.ts';
import type { ParserRequest } from './parser-process.ts';

/** How often the memory of the process is checked. */
const CHECK_MS = 50;

const [maxMemoryBytes = 0, maxOutputBytes = 0, parentId] = process.argv.slice(2).map(Number);

// Runs as a process. A thread of it kills it when it uses too much memory or its parent is gone, even while it parses.
if (isMainThread) {
  // Ctrl-C reaches all processes of a terminal, but the parent decides when this one ends.
  process.on('SIGINT', () => {});
  // A rejection that a library forgot must not end the next document; a parser that waits for it runs out of time.
  process.on('unhandledRejection', () => {});
  const parse = createDocumentParser();
  connectToParent({
    async handle(request: ParserRequest) {
      const parsed =
        'document' in request
          ? await parse(request.document)
          : (await import('../adapters/web/extract-links.ts')).extractLinks(request.page);
      const output = serialize(parsed);
      return output.length > maxOutputBytes ? null : output;
    },
  });
  new Worker(import.meta.filename, { argv: process.argv.slice(2), execArgv: [] }).unref();
} else {
  setInterval(() => {
    if (process.memoryUsage.rss() > maxMemoryBytes || process.ppid !== parentId)
      process.kill(process.pid, 'SIGKILL');
  }, CHECK_MS);
}

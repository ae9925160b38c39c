import { deserialize } from 'node:v8';
import { documentName } from '../adapters/documents/parse-document.ts';
import type { LinkExtractor, PageSource } from '../adapters/web/extract-links.ts';
import { connectToWorker, startWorkerProcess } from '../async/worker-channel.ts';
import type { RawDocument } from '../domain/document.ts';
import { advice, settingName } from '../faults/advice.ts';
import { AppError } from '../faults/app-error.ts';
import type { DocumentParser } from '../ports/document-source.ts';

/** What parsing one document may take. The memory is that of the whole process. */
export type ParseLimits = Record<'seconds' | 'memoryMb' | 'outputMb', number>;

export type ParserRequest = { document: RawDocument } | { page: PageSource };

export interface ParserProcess {
  /** Throws `invalid_input` for a document that exceeds a limit or crashes the process; the next one gets a new process. */
  parse: DocumentParser;
  extractLinks: LinkExtractor;
  /** Fails the documents that are not parsed yet. */
  close(): void;
}

const MB = 1024 * 1024;
/** The share of the memory for JavaScript objects. The program and buffers take the rest. */
const HEAP_SHARE = 0.75;
/** How V8 and the kernel end a process that is out of memory. */
const MEMORY_SIGNALS: ReadonlySet<unknown> = new Set(['SIGABRT', 'SIGKILL', 'SIGTRAP', 'SIGILL']);

/** Parses documents one at a time in another process, which starts with the first (decisions/0031). */
export function createParserProcess(limits: ParseLimits): ParserProcess {
  let running: ReturnType<typeof start> | undefined;
  let last: Promise<unknown> = Promise.resolve();
  const closed = new AbortController();

  function start() {
    const args = [limits.memoryMb * MB, limits.outputMb * MB, process.pid].map(String);
    const flags = [`--max-old-space-size=${Math.floor(limits.memoryMb * HEAP_SHARE)}`];
    const child = startWorkerProcess(import.meta.url, 'parse-worker', args, flags);
    // Only the timer of a document keeps this process alive.
    child.unref();
    child.channel?.unref();
    child.on('exit', () => running?.child === child && kill());
    process.on('exit', kill);
    return { child, channel: connectToWorker<ParserRequest, Uint8Array | null>(child) };
  }

  function kill(): void {
    process.off('exit', kill);
    running?.child.kill('SIGKILL');
    running = undefined;
  }

  async function run<T>(request: ParserRequest, uri: string, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    const isNew = running === undefined;
    running ??= start();
    const { child, channel } = running;
    const exceeds = (limit: string, setting: string) =>
      new AppError('invalid_input', `${documentName(uri)} ${limit}`, {
        hint: advice`Exclude it, or raise ${settingName(setting)}.`,
      });
    const stop = (reason: unknown) => {
      channel.rejectAll(reason);
      kill();
    };
    const interrupt = () => stop(signal.reason);
    const expire = () => stop(exceeds(`takes more than ${limits.seconds} s to parse`, 'maxParseSeconds'));
    signal.addEventListener('abort', interrupt);
    const timer = setTimeout(expire, limits.seconds * 1000);
    try {
      const output = await channel.request(request);
      if (output !== null) return deserialize(output);
    } catch (error) {
      const end = child.signalCode ?? child.exitCode;
      if (end === null) throw error;
      // Earlier documents may be the cause.
      if (!isNew) return run(request, uri, signal);
      const isMemory = MEMORY_SIGNALS.has(end);
      const fault = isMemory ? `takes more than ${limits.memoryMb} MB to parse` : `ended its parser (${end})`;
      throw exceeds(fault, 'maxParseMemoryMb');
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', interrupt);
    }
    throw exceeds(`contains more than ${limits.outputMb} MB of text`, 'maxParseOutputMb');
  }

  /** One at a time, so that each has the limits for itself. */
  function enqueue<T>(request: ParserRequest, uri: string, signal?: AbortSignal): Promise<T> {
    const either = AbortSignal.any([closed.signal, ...(signal ? [signal] : [])]);
    const result = last.then(() => run<T>(request, uri, either));
    last = result.catch(() => {});
    return result;
  }

  return {
    parse: (document, signal) => enqueue({ document }, document.uri, signal),
    extractLinks: (page, signal) => enqueue({ page }, page.url, signal),
    close() {
      closed.abort(new Error('the parser is closed'));
      kill();
    },
  };
}

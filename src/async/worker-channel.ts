import { type ChildProcess, fork, type StdioOptions } from 'node:child_process';
import {
  type MessagePort,
  parentPort,
  type Transferable,
  Worker,
  type WorkerOptions,
} from 'node:worker_threads';
import { AppError, type ErrorKind, messageOf } from '../faults/app-error.ts';

type ChannelMessage =
  | { requestId: number; request: unknown }
  | { responseId: number; response: unknown }
  | { responseId: number; error: SerializedError };

/** One end of a channel between a worker (a thread or a process) and its parent. Either end can send requests. */
export interface WorkerChannel<Request, Response> {
  /** Throws what the other end throws, as an AppError if it was one. */
  request(request: Request): Promise<Response>;
  /** How many requests have no response yet. */
  pendingCount(): number;
  /** Fails all requests without a response. */
  rejectAll(error: unknown): void;
}

interface ChannelOptions<Incoming> {
  /** Answers the requests of the other end. */
  handle?: (request: Incoming) => unknown;
  /** The buffers of a response that are moved to the other thread instead of copied. */
  transfer?: (response: never) => Transferable[];
}

type ChannelPort = Pick<MessagePort, 'postMessage'> & {
  on(event: 'message', listener: (message: ChannelMessage) => void): unknown;
};

function createChannel<Request, Response, Incoming>(
  port: ChannelPort,
  { handle, transfer = () => [] }: ChannelOptions<Incoming>,
): WorkerChannel<Request, Response> {
  const pending = new Map<number, PromiseWithResolvers<Response>>();
  let nextId = 0;

  async function respond(responseId: number, request: Incoming): Promise<void> {
    try {
      const response = await handle?.(request);
      port.postMessage({ responseId, response }, transfer(response as never));
    } catch (error) {
      port.postMessage({ responseId, error: serializeError(error) });
    }
  }

  port.on('message', (message) => {
    if ('requestId' in message) return void respond(message.requestId, message.request as Incoming);
    const caller = pending.get(message.responseId);
    pending.delete(message.responseId);
    if ('error' in message) caller?.reject(deserializeError(message.error));
    else caller?.resolve(message.response as Response);
  });

  return {
    request(request) {
      const requestId = nextId++;
      const caller = Promise.withResolvers<Response>();
      pending.set(requestId, caller);
      port.postMessage({ requestId, request });
      return caller.promise;
    },
    pendingCount: () => pending.size,
    rejectAll(error) {
      for (const caller of pending.values()) caller.reject(error);
      pending.clear();
    },
  };
}

/**
 * Starts the module `name` beside the module `base` (an `import.meta.url`) as a worker, from the source or the bundle.
 * The flags of this process are not passed on: `--input-type`, for example, does not apply to a file.
 */
export function startWorker(base: string, name: string, options: WorkerOptions = {}): Worker {
  return new Worker(moduleBeside(base, name), { ...options, execArgv: [] });
}

/** Starts a module as `startWorker` does, but as a process with these flags of Node, which can be killed at any time. */
export function startWorkerProcess(base: string, name: string, args: string[], flags: string[]) {
  const stdio: StdioOptions = ['ignore', 'ignore', 'ignore', 'ipc'];
  return fork(moduleBeside(base, name), args, { serialization: 'advanced', execArgv: flags, stdio });
}

function moduleBeside(base: string, name: string): URL {
  return new URL(`./${name}${base.endsWith('.ts') ? '.ts' : '.js'}`, base);
}

/** The channel to a worker that calls `connectToParent`. Pending requests fail when the worker fails or exits. */
export function connectToWorker<Request, Response, Incoming = never>(
  worker: Worker | ChildProcess,
  options: ChannelOptions<Incoming> = {},
): WorkerChannel<Request, Response> {
  const channel = createChannel<Request, Response, Incoming>(toPort(worker), options);
  worker.on('error', channel.rejectAll);
  worker.on('exit', () => channel.rejectAll(new Error('the worker ended early')));
  return channel;
}

/** The channel of a worker to the thread that started it. */
export function connectToParent<Incoming, Request = never, Response = never>(
  options: ChannelOptions<Incoming>,
): WorkerChannel<Request, Response> {
  if (parentPort === null && !process.connected) throw new Error('this module runs only as a worker');
  return createChannel<Request, Response, Incoming>(toPort(parentPort ?? process), options);
}

/** A message to a process that has ended is dropped: its exit rejects the requests. */
function toPort(peer: ChannelPort | ChildProcess | NodeJS.Process): ChannelPort {
  if ('postMessage' in peer) return peer;
  return {
    postMessage: (message) => void peer.send?.(message, undefined, undefined, () => {}),
    on: (event, listener) => (peer as ChildProcess).on(event, listener as never),
  };
}

/** An error as a worker message; `kind` is null unless it is an AppError. */
interface SerializedError {
  kind: ErrorKind | null;
  message: string;
  hint: string | undefined;
}

function serializeError(error: unknown): SerializedError {
  if (!(error instanceof AppError)) return { kind: null, message: messageOf(error), hint: undefined };
  return { kind: error.kind, message: error.message, hint: error.hint };
}

function deserializeError({ kind, message, hint }: SerializedError): Error {
  if (kind === null) return new Error(message);
  return new AppError(kind, message, hint === undefined ? {} : { hint });
}

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { advice, bySetting, setting, settingOf } from '../../faults/advice.ts';
import { AppError, messageOf } from '../../faults/app-error.ts';

interface ListenOptions {
  host: string;
  /** 0 takes a free one. */
  port: number;
}

export interface Listening {
  host: string;
  port: number;
  /** Where it is reached, without a slash at the end. */
  url: string;
  /** No new connections; those that are busy may finish within `graceMs`. */
  close(graceMs: number): Promise<void>;
}

/**
 * For a request to arrive whole: who sends it byte by byte does not hold a connection for ever. Under load it may
 * lie unread for a while, which is not its sender's fault, so these are no shorter.
 */
const REQUEST_TIMEOUT_MS = 120_000;
const HEADERS_TIMEOUT_MS = 60_000;
/** A client that asks again about when this has passed may find its connection closed, so it is not short. */
const KEEP_ALIVE_MS = 30_000;
const MAX_CONNECTIONS = 4096;
/** For responses to be written out after the last work has ended. */
const CLOSE_MS = 2_000;

/** What can be served: it answers requests, and can be told to come to an end. */
interface Service {
  fetch(request: Request): Response | Promise<Response>;
  /** Takes on nothing more and waits for what runs, at most `graceMs`; what takes longer is ended. */
  drain(graceMs: number): Promise<void>;
}

/**
 * Serves until the signal is raised, then lets what runs finish and closes. Connections are closed last: until then who
 * asks is told that the server is stopping, and only then are those of clients that wait for something idle.
 */
export async function serveUntil(
  signal: AbortSignal,
  service: Service,
  options: ListenOptions & { graceMs: number; onListening: (listening: Listening) => void },
): Promise<void> {
  const listening = await listen(service.fetch, options);
  options.onListening(listening);
  if (!signal.aborted) await once(signal, 'abort');
  await service.drain(options.graceMs);
  await listening.close(CLOSE_MS);
}

/** Throws `invalid_input` if the address cannot be had. */
export async function listen(
  fetch: (request: Request) => Response | Promise<Response>,
  { host, port }: ListenOptions,
): Promise<Listening> {
  const server = createServer(
    {
      requestTimeout: REQUEST_TIMEOUT_MS,
      headersTimeout: HEADERS_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
    },
    getRequestListener(fetch, { overrideGlobalObjects: false }),
  );
  server.maxConnections = MAX_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(addressFault(error, host, port)));
    server.listen({ host, port, backlog: 1024 }, resolve);
  });
  const address = server.address() as AddressInfo;
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return {
    host: address.address,
    port: address.port,
    url: `http://${name}:${address.port}`,
    async close(graceMs) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      const timer = setTimeout(() => server.closeAllConnections(), graceMs);
      await closed;
      clearTimeout(timer);
    },
  };
}

function addressFault(error: NodeJS.ErrnoException, host: string, port: number): AppError {
  const place = `${host} port ${port}`;
  if (error.code === 'EADDRINUSE') {
    return new AppError('invalid_input', `Another program listens on ${place}.`, {
      hint: advice`Choose another${bySetting('port')}, or ${settingOf('port', '0', 'port 0')} for a free one.`,
      cause: error,
    });
  }
  return new AppError('invalid_input', `Listening on ${place} is not possible (${messageOf(error)}).`, {
    hint: advice`Choose another ${setting('port')} or ${setting('host')}.`,
    cause: error,
  });
}

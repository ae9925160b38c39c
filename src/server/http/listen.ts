import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { advice, settingName, settingValue, withSetting } from '../../faults/advice.ts';
import { AppError, messageOf } from '../../faults/app-error.ts';

interface ListenOptions {
  host: string;
  /** 0 chooses a free port. */
  port: number;
}

export interface ListeningServer {
  host: string;
  port: number;
  /** Without a trailing slash. */
  url: string;
  /** Refuses new connections and closes the open ones after `graceMs`. */
  close(graceMs: number): Promise<void>;
}

/** Bounds slow senders. Under load a request may wait unread for a while, so these are not shorter. */
const REQUEST_TIMEOUT_MS = 120_000;
const HEADERS_TIMEOUT_MS = 60_000;
/** Long enough that clients rarely reuse a connection at the moment it is closed. */
const KEEP_ALIVE_MS = 30_000;
const MAX_CONNECTIONS = 4096;
/** Time to write responses after the last turn has ended. */
const CLOSE_MS = 2_000;

export interface Service {
  fetch(request: Request): Response | Promise<Response>;
  /** Refuses new work, waits up to `graceMs` for running work, then aborts the rest. */
  drain(graceMs: number): Promise<void>;
}

/**
 * Serves until the signal aborts, then drains the service and closes. Connections are closed last, so that requests
 * during the drain are answered with "stopping".
 */
export async function serveUntil(
  signal: AbortSignal,
  service: Service,
  options: ListenOptions & { graceMs: number; onListening: (listening: ListeningServer) => void },
): Promise<void> {
  const listening = await listen(service.fetch, options);
  options.onListening(listening);
  if (!signal.aborted) await once(signal, 'abort');
  await service.drain(options.graceMs);
  await listening.close(CLOSE_MS);
}

/** Throws `invalid_input` if the address is not available. */
export async function listen(
  fetch: (request: Request) => Response | Promise<Response>,
  { host, port }: ListenOptions,
): Promise<ListeningServer> {
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
    server.once('error', (error) => reject(toListenError(error, host, port)));
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

function toListenError(error: NodeJS.ErrnoException, host: string, port: number): AppError {
  if (error.code === 'EADDRINUSE') {
    return new AppError('invalid_input', `Port ${port} of ${host} is in use by another program.`, {
      hint: advice`Choose another${withSetting('port')}, or ${settingValue('port', '0', 'port 0')} for a free one.`,
      cause: error,
    });
  }
  return new AppError('invalid_input', `Cannot listen on port ${port} of ${host} (${messageOf(error)}).`, {
    hint: advice`Choose another ${settingName('port')} or ${settingName('host')}.`,
    cause: error,
  });
}

import { Socket } from 'node:net';
import { AppError } from '../domain/app-error.ts';

/** Under these names undici, the one in Node and the one of the package, keeps its pool for all of the process. */
const DISPATCHERS = [Symbol.for('undici.globalDispatcher.1'), Symbol.for('undici.globalDispatcher.2')];

/**
 * Until the function it gives back is called, nothing leaves this process over the network, whoever sends it: not all
 * clients go through `fetch`, or through what msw watches. Pipes and sockets in the file system stay open.
 */
export function blockNetwork(onAttempt: (error: AppError) => void): () => void {
  const { connect } = Socket.prototype;

  function refused(address: string): AppError {
    const message = `A connection to ${address} was tried, and a replay makes none.`;
    const error = new AppError('replay_drift', message, {
      hint: 'Only calls of fetch are on tapes. What else needs the network cannot be replayed.',
      recoverable: false,
    });
    onAttempt(error);
    return error;
  }

  function refuse(this: Socket, ...args: unknown[]): Socket {
    const address = addressOf(args);
    if (address === null) return connect.apply(this, args as never);
    const error = refused(address);
    process.nextTick(() => this.destroy(error));
    return this;
  }

  const restore = DISPATCHERS.map((symbol) => replaceDispatcher(symbol, refused));
  Socket.prototype.connect = refuse as typeof connect;
  return () => {
    for (const each of restore) each();
    if (Socket.prototype.connect === refuse) Socket.prototype.connect = connect;
  };
}

/** A pool may hold connections from before, which need no new one. */
function replaceDispatcher(symbol: symbol, refused: (address: string) => AppError): () => void {
  const holder = globalThis as unknown as Record<symbol, unknown>;
  const before = holder[symbol];
  if (before === undefined) return () => {};
  holder[symbol] = {
    dispatch({ origin }: { origin?: unknown }) {
      throw refused(String(origin));
    },
  };
  return () => {
    holder[symbol] = before;
  };
}

/** Null for what is no connection over the network. */
function addressOf([first, second]: unknown[]): string | null {
  // Node passes its own normalised arguments on as a list.
  const target: unknown = Array.isArray(first) ? first[0] : first;
  if (typeof target === 'number' || /^\d+$/.test(String(target))) return `${second ?? 'localhost'}:${target}`;
  const { host, port } = (target ?? {}) as { host?: string; port?: number | string };
  return port === undefined || port === null ? null : `${host ?? 'localhost'}:${port}`;
}

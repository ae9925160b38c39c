import { AsyncLocalStorage } from 'node:async_hooks';
import dns from 'node:dns';
import { globalAgent as httpAgent } from 'node:http';
import { globalAgent as httpsAgent } from 'node:https';
import { Socket } from 'node:net';
import { AppError } from '../faults/app-error.ts';

/** Where undici, both Node's and the package, keeps its global connection pool. */
const DISPATCHER_SYMBOLS = [Symbol.for('undici.globalDispatcher.1'), Symbol.for('undici.globalDispatcher.2')];

interface TcpPrototype {
  connect(request: unknown, address: string, port: number): number;
  connect6(request: unknown, address: string, port: number): number;
}

/**
 * Refuses every TCP connection and name lookup of this process, including those of clients that do not use `fetch`. It
 * works below the sockets that msw mocks, so that other msw servers in the process keep answering. Pipes and Unix
 * sockets are not blocked.
 */
export function blockNetwork(onAttempt: (error: AppError) => void) {
  const quiet = new AsyncLocalStorage<true>();

  function refuse(address: string): AppError {
    const error = new AppError('replay_drift', `A replay cannot connect to ${address}.`, {
      hint: 'Tapes contain only requests made with fetch.',
      recoverable: false,
    });
    if (quiet.getStore() === undefined) onAttempt(error);
    return error;
  }

  const restore = [blockConnections(refuse), blockLookups(refuse), ...DISPATCHER_SYMBOLS.map(replacePool)];
  for (const { freeSockets } of [httpAgent, httpsAgent])
    for (const socket of Object.values(freeSockets).flat()) socket?.destroy();
  return {
    /** Runs work whose attempts to connect fail without being reported. */
    tryQuietly: <T>(work: () => Promise<T>) => quiet.run(true, work),
    unblock() {
      for (const undo of restore) undo();
    },
  };
}

function blockConnections(refuse: (address: string) => AppError): () => void {
  const prototype = tcpPrototype();
  const { connect, connect6 } = prototype;
  function refuseConnection(this: object, _request: unknown, address: string, port: number): number {
    const error = refuse(`${address}:${port}`);
    process.nextTick(() => socketOf(this)?.destroy(error));
    return 0;
  }
  Object.assign(prototype, { connect: refuseConnection, connect6: refuseConnection });
  return () => void Object.assign(prototype, { connect, connect6 });
}

/** Node does not export the class of TCP handles, so it is taken from a socket that never connects. */
function tcpPrototype(): TcpPrototype {
  const probe = new Socket();
  probe.connect({ host: 'probe.invalid', port: 1, lookup: () => {} });
  const handle: unknown = Reflect.get(probe, '_handle');
  probe.on('error', () => {}).destroy();
  let prototype = Object.getPrototypeOf(handle) as object;
  while (!Object.hasOwn(prototype, 'connect6')) prototype = Object.getPrototypeOf(prototype) as object;
  return prototype as TcpPrototype;
}

/** Node keeps the socket of a handle under a symbol. */
function socketOf(handle: object): Socket | undefined {
  const owners: unknown[] = Object.getOwnPropertySymbols(handle).map((symbol) => Reflect.get(handle, symbol));
  return owners.find((owner) => owner instanceof Socket);
}

/** `localhost` stays, because servers listen on it. */
function blockLookups(refuse: (address: string) => AppError): () => void {
  const { lookup } = dns;
  const refuseLookup = (name: string, ...rest: unknown[]) => {
    if (name === 'localhost') return Reflect.apply(lookup, dns, [name, ...rest]) as unknown;
    const callback = rest.at(-1) as (error: Error) => void;
    const error = refuse(name);
    return process.nextTick(() => callback(error));
  };
  dns.lookup = Object.assign(refuseLookup as typeof lookup, { __promisify__: lookup.__promisify__ });
  return () => {
    dns.lookup = lookup;
  };
}

/** Replaces a pool by an empty one of the same class: the old one may hold open connections. */
function replacePool(symbol: symbol): () => void {
  const before: unknown = Reflect.get(globalThis, symbol);
  if (typeof before !== 'object' || before === null) return () => {};
  const Pool = before.constructor as new () => { close?(): Promise<void> };
  const empty = new Pool();
  Reflect.set(globalThis, symbol, empty);
  return () => {
    if (Reflect.get(globalThis, symbol) === empty) Reflect.set(globalThis, symbol, before);
    void empty.close?.();
  };
}

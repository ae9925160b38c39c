import { AsyncLocalStorage } from 'node:async_hooks';
import dns from 'node:dns';
import { globalAgent as httpAgent } from 'node:http';
import { globalAgent as httpsAgent } from 'node:https';
import { Socket } from 'node:net';
import { AppError } from '../faults/app-error.ts';

/** Under these names undici, the one in Node and the one of the package, keeps its pool for all of the process. */
const DISPATCHERS = [Symbol.for('undici.globalDispatcher.1'), Symbol.for('undici.globalDispatcher.2')];

interface Connecting {
  connect(request: unknown, address: string, port: number): number;
  connect6(request: unknown, address: string, port: number): number;
}

interface BlockedNetwork {
  /** Runs work whose attempts to connect fail without being reported. */
  tryQuietly<T>(work: () => Promise<T>): Promise<T>;
  unblock(): void;
}

/**
 * Until `unblock` is called, nothing leaves this process over the network, whoever sends it: not all clients go through
 * `fetch`, or through what msw watches. Names are not looked up, and connections end where Node hands them to the
 * system: below the sockets that another msw puts its answers into, so that one beside a tape works as ever. Pipes
 * and sockets in the file system stay open.
 */
export function blockNetwork(onAttempt: (error: AppError) => void): BlockedNetwork {
  const quiet = new AsyncLocalStorage<true>();

  function refused(address: string): AppError {
    const message = `A connection to ${address} was tried, and a replay makes none.`;
    const error = new AppError('replay_drift', message, {
      hint: 'Only calls of fetch are on tapes. What else needs the network cannot be replayed.',
      recoverable: false,
    });
    if (quiet.getStore() === undefined) onAttempt(error);
    return error;
  }

  const restore = [blockConnections(refused), blockNames(refused), ...DISPATCHERS.map(replacePool)];
  for (const { freeSockets } of [httpAgent, httpsAgent])
    for (const socket of Object.values(freeSockets).flat()) socket?.destroy();
  return {
    tryQuietly: (work) => quiet.run(true, work),
    unblock() {
      for (const each of restore) each();
    },
  };
}

function blockConnections(refused: (address: string) => AppError): () => void {
  const handles = tcpHandles();
  const { connect, connect6 } = handles;
  function refuse(this: object, _request: unknown, address: string, port: number): number {
    const error = refused(`${address}:${port}`);
    process.nextTick(() => socketOf(this)?.destroy(error));
    return 0;
  }
  Object.assign(handles, { connect: refuse, connect6: refuse });
  return () => void Object.assign(handles, { connect, connect6 });
}

/** What all TCP connections of this process are made by; Node gives no name to it. */
function tcpHandles(): Connecting {
  const probe = new Socket();
  // Never answered, so nothing is connected.
  probe.connect({ host: 'probe.invalid', port: 1, lookup: () => {} });
  const handle: unknown = Reflect.get(probe, '_handle');
  probe.on('error', () => {}).destroy();
  let prototype = Object.getPrototypeOf(handle) as object;
  while (!Object.hasOwn(prototype, 'connect6')) prototype = Object.getPrototypeOf(prototype) as object;
  return prototype as Connecting;
}

/** Node keeps the socket of a handle under a symbol. */
function socketOf(handle: object): Socket | undefined {
  const owners: unknown[] = Object.getOwnPropertySymbols(handle).map((symbol) => Reflect.get(handle, symbol));
  return owners.find((owner) => owner instanceof Socket);
}

/** This machine's own name needs no network, and servers listen on it. */
function blockNames(refused: (address: string) => AppError): () => void {
  const { lookup } = dns;
  const refuse = (name: string, ...rest: unknown[]) => {
    if (name === 'localhost') return Reflect.apply(lookup, dns, [name, ...rest]) as unknown;
    const callback = rest.at(-1) as (error: Error) => void;
    const error = refused(name);
    return process.nextTick(() => callback(error));
  };
  dns.lookup = Object.assign(refuse as typeof lookup, { __promisify__: lookup.__promisify__ });
  return () => {
    dns.lookup = lookup;
  };
}

/** A pool may hold connections from before, which need no new one: an empty one of its kind takes its place. */
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

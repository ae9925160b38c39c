import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const CHILD = fileURLToPath(new URL('../children/model-server.ts', import.meta.url));

/** What the server can tell about the request that it answered last. */
export interface LastRequest {
  /** The time of the monotonic clock, which all processes share, when its first word was sent. */
  firstWordAtMs: number;
  messages: number;
  bytes: number;
}

/** A model behind HTTP, in a process of its own so that it does not share our event loop. */
export interface ModelServer {
  readonly baseUrl: string;
  lastRequest(): Promise<LastRequest>;
  close(): void;
}

/** It says what it has to say at once, or over so many milliseconds. */
export async function startModelServer(lastsMs = 0): Promise<ModelServer> {
  const child = fork(CHILD, [String(lastsMs)]);
  const [port] = (await once(child, 'message')) as [number];
  const origin = `http://127.0.0.1:${port}`;
  return {
    baseUrl: `${origin}/v1`,
    lastRequest: async () => (await (await fetch(`${origin}/last-request`)).json()) as LastRequest,
    close: () => child.kill(),
  };
}

/** Milliseconds of the monotonic clock. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

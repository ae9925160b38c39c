import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const CHILD = fileURLToPath(new URL('../children/model-server.ts', import.meta.url));

/** The last request that the server answered. */
export interface LastRequest {
  /** When the first word was sent, on the monotonic clock that all processes share. */
  firstWordAtMs: number;
  messages: number;
  bytes: number;
}

/** A model server in another process, so that it does not share our event loop. */
export interface ModelServer {
  readonly baseUrl: string;
  lastRequest(): Promise<LastRequest>;
  close(): void;
}

/** Streams each answer over `durationMs`. */
export async function startModelServer(durationMs = 0): Promise<ModelServer> {
  const child = fork(CHILD, [String(durationMs)]);
  const [port] = (await once(child, 'message')) as [number];
  const origin = `http://127.0.0.1:${port}`;
  return {
    baseUrl: `${origin}/v1`,
    lastRequest: async () => (await (await fetch(`${origin}/last-request`)).json()) as LastRequest,
    close: () => child.kill(),
  };
}

export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

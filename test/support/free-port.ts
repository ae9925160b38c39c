import { createServer } from 'node:net';

/** Below the ephemeral ports, which the system assigns to other sockets at any time. */
const FIRST = 12_000;
const LAST = 32_000;

/** Returns a local port on which nothing listens. */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST));
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

import { createServer } from 'node:net';

/** Systems give ports from 32768 on to whoever asks for any and to connections, so none of these is taken by chance. */
const FIRST = 12_000;
const LAST = 32_000;

/** A port of this machine on which nobody listens, for a server that must be told one, or for nobody. */
export async function freePort(): Promise<number> {
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

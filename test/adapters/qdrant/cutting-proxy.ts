import { createServer, request as forward } from 'node:http';
import { listenForTest } from '../../support/listen-for-test.ts';

export interface CuttingProxy {
  url: string;
  requests(): number;
  /** Forwards so many more requests. The response to the last one is lost, and later requests fail. */
  cutAfter(requests: number): void;
}

/** A proxy that can be cut at any request, to simulate a process that dies there. */
export async function startCuttingProxy(target: string): Promise<CuttingProxy> {
  let requests = 0;
  let last = Number.POSITIVE_INFINITY;
  const server = createServer((incoming, outgoing) => {
    requests += 1;
    const number = requests;
    if (number > last) {
      incoming.socket.destroy();
      return;
    }
    const onward = forward(
      new URL(incoming.url ?? '/', target),
      { method: incoming.method ?? 'GET', headers: incoming.headers },
      (response) => {
        if (number === last) {
          response.resume().on('end', () => incoming.socket.destroy());
          return;
        }
        outgoing.writeHead(response.statusCode ?? 500, response.headers);
        response.pipe(outgoing);
      },
    );
    onward.on('error', () => incoming.socket.destroy());
    incoming.pipe(onward);
  });
  const { origin } = await listenForTest(server);
  return {
    url: origin,
    requests: () => requests,
    cutAfter(more) {
      last = requests + more;
    },
  };
}

import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { listenForTest } from './listen-for-test.ts';

export interface FaultyServer {
  baseUrl: string;
  /** The number of requests so far. */
  requests: () => number;
}

/** Starts a server for the running test that responds with these listeners in order, then repeats the last. */
export async function startFaultyServer(...answers: RequestListener[]): Promise<FaultyServer> {
  let requests = 0;
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => answers[Math.min(requests++, answers.length - 1)]?.(request, response));
  });
  const { origin } = await listenForTest(server);
  return { baseUrl: `${origin}/v1`, requests: () => requests };
}

export const reset: RequestListener = (request) => request.socket.resetAndDestroy();

export const silence: RequestListener = () => {};

export function fail(status: number, body = '{"error":{"message":"no"}}', headers = {}): RequestListener {
  return (_, response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
}

export function json(body: string): RequestListener {
  return fail(200, body);
}

/** Streams these texts, then calls `then` with the open response. */
export function begin(texts: string[], then: (response: ServerResponse) => void): RequestListener {
  return (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const content of texts) response.write(event({ choices: [{ index: 0, delta: { content } }] }));
    setTimeout(() => then(response), 5);
  };
}

/** Streams a complete answer. */
export function answer(text: string): RequestListener {
  return begin([text], (response) => {
    response.end(event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }));
  });
}

export function event(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

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

export const resetConnection: RequestListener = (request) => request.socket.resetAndDestroy();

export const neverRespond: RequestListener = () => {};

export function respondWithStatus(
  status: number,
  body = '{"error":{"message":"no"}}',
  headers = {},
): RequestListener {
  return (_, response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
}

export function respondWithJson(body: string): RequestListener {
  return respondWithStatus(200, body);
}

/** Streams these texts, then calls `then` with the open response. */
export function startStream(texts: string[], then: (response: ServerResponse) => void): RequestListener {
  return (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const content of texts)
      response.write(formatStreamEvent({ choices: [{ index: 0, delta: { content } }] }));
    setTimeout(() => then(response), 5);
  };
}

/** Streams a complete answer. */
export function streamAnswer(text: string): RequestListener {
  return startStream([text], (response) => {
    response.end(formatStreamEvent({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }));
  });
}

export function formatStreamEvent(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

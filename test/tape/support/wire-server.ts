import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { listenForTest } from '../../support/listen-for-test.ts';

/** A server with the kinds of responses that a recording must reproduce. Counts the requests. */
export async function startWireServer(): Promise<{ url: string; requests: () => number }> {
  let requests = 0;
  const server = createServer(async (request, response) => {
    requests += 1;
    const body = await textOf(request);
    await (ANSWERS[request.url?.split('?')[0] ?? ''] ?? echo)(response, body, requests);
  });
  const { origin } = await listenForTest(server);
  return { url: origin, requests: () => requests };
}

/** Several short delays, so that the process reads each chunk even on a busy machine. */
async function pause(): Promise<void> {
  for (let step = 0; step < 6; step += 1) await delay(5);
}

type Answer = (response: ServerResponse, body: string, count: number) => Promise<void> | void;

const echo: Answer = (response, body, count) => {
  response.setHeader('content-type', 'application/json').end(JSON.stringify({ echo: body, count }));
};

const ANSWERS: Record<string, Answer> = {
  async '/events'(response) {
    response.setHeader('content-type', 'text/event-stream');
    // The second event is split inside a character.
    const text = Buffer.from('data: {"text":"grün"}\n\n');
    response.write('data: {"text":"one"}\n\n');
    await pause();
    response.write(text.subarray(0, 18));
    await pause();
    response.write(text.subarray(18));
    await pause();
    response.end('data: [DONE]\n\n');
  },
  '/compressed'(response) {
    response
      .setHeader('content-type', 'application/json')
      .setHeader('content-encoding', 'gzip')
      .end(gzipSync(JSON.stringify({ long: 'text '.repeat(50) })));
  },
  '/bytes'(response) {
    response.setHeader('content-type', 'application/octet-stream').end(Buffer.from([0, 255, 254, 1]));
  },
  async '/slow'(response) {
    await delay(80);
    response.setHeader('content-type', 'application/json').end('{"slow":true}');
  },
  async '/cut'(response) {
    response.setHeader('content-type', 'text/event-stream');
    response.write('data: {"text":"half"}\n\n');
    await pause();
    response.destroy();
  },
  '/busy'(response, _body, count) {
    if (count > 1) return echo(response, 'at last', count);
    response.statusCode = 429;
    response.setHeader('retry-after', '0').setHeader('set-cookie', 'session=1').end('{"error":"busy"}');
  },
  '/empty'(response) {
    response.statusCode = 204;
    response.end();
  },
};

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const part of request) text += part;
  return text;
}

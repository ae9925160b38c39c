import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll } from 'vitest';

export interface ScriptedModel {
  baseUrl: string;
  /** Sets the answer, which follows a search for the question, and the pieces it is streamed in. */
  answerWith(...pieces: string[]): void;
  /** Pauses answers after their first piece until the returned function is called. */
  pause(): () => void;
  /** Fails calls with this status until the next `answerWith`. */
  failWith(status: number): void;
}

interface ChatRequest {
  messages: { role: string; content: unknown }[];
  tools?: { function: { name: string } }[];
}

/** Starts an OpenAI-compatible server with scripted answers for the tests of a file. */
export async function startScriptedModel(): Promise<ScriptedModel> {
  let pieces = ['Well.'];
  let resumed: Promise<void> = Promise.resolve();
  let failure: number | null = null;

  const server = createServer(async (request, response) => {
    if (failure !== null) {
      response.writeHead(failure, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: 'Scripted failure.' } }));
      return;
    }
    const { messages, tools } = JSON.parse(await bodyOf(request)) as ChatRequest;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const last = messages.at(-1);
    const tool = tools?.[0]?.function.name;
    if (last?.role === 'user' && tool !== undefined) return search(response, tool, textOf(last.content));
    for (const [index, content] of pieces.entries()) {
      if (index === 1) await resumed;
      send(response, { content });
    }
    finish(response, 'stop');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    answerWith(...answer) {
      pieces = answer;
      failure = null;
    },
    pause() {
      const { promise, resolve } = Promise.withResolvers<void>();
      resumed = promise;
      return resolve;
    },
    failWith(status) {
      failure = status;
    },
  };
}

function search(response: ServerResponse, name: string, query: string): void {
  const call = { name, arguments: JSON.stringify({ query }) };
  send(response, { tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: call }] });
  finish(response, 'tool_calls');
}

function send(response: ServerResponse, delta: object, finish_reason: string | null = null): void {
  const chunk = { id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] };
  response.write(`data: ${JSON.stringify(chunk)}\n\n`);
}

function finish(response: ServerResponse, reason: string): void {
  send(response, {}, reason);
  response.end('data: [DONE]\n\n');
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  return (await Array.fromAsync(request)).join('');
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return (content as { text?: string }[]).map(({ text = '' }) => text).join('');
}

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { createOpenAiModel } from '../../../src/adapters/openai/create-openai-model.ts';
import { askModel, chunk, DONE } from './ask-model.ts';

test('reuses the connection of a streamed answer, and cancels a stream that does not end', async () => {
  const connections = new Set<unknown>();
  let cuts = 0;
  const service = createServer((request, reply) => {
    connections.add(request.socket);
    request.resume().on('end', () => {
      reply.writeHead(200, { 'content-type': 'text/event-stream' });
      reply.write(`data: ${JSON.stringify(chunk({ content: 'Foxes run.' }, 'stop'))}\n\n${DONE}`);
      if (request.headers['x-endless'] === undefined) setTimeout(() => reply.end(), 10);
      else reply.on('close', () => cuts++);
    });
  });
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  try {
    const ask = async (headers: Record<string, string> = {}) => {
      const model = createOpenAiModel({
        model: 'test-model',
        baseUrl: `http://127.0.0.1:${(service.address() as AddressInfo).port}/v1`,
        api: 'chat_completions',
        timeoutMs: 60_000,
        fetch: (url, init) => fetch(url, { ...init, headers: { ...init?.headers, ...headers } }),
      });
      expect(await askModel(model, true)).toMatchObject({ text: 'Foxes run.' });
      // The connection returns to the pool shortly after the answer is complete.
      await new Promise((resolve) => setTimeout(resolve, 20));
    };
    for (let times = 0; times < 3; times += 1) await ask();
    expect(connections.size).toBe(1);
    await ask({ 'x-endless': 'yes' });
    await expect.poll(() => cuts, { timeout: 5000 }).toBe(1);
  } finally {
    service.closeAllConnections();
    service.close();
  }
});

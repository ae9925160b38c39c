import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { type ListeningServer, listen, serveUntil } from '../../../src/server/http/listen.ts';

test('answers requests while draining, then closes', async () => {
  const stop = new AbortController();
  const drained = Promise.withResolvers<void>();
  const draining = Promise.withResolvers<number>();
  const listening = Promise.withResolvers<ListeningServer>();
  const served = serveUntil(
    stop.signal,
    {
      fetch: () => new Response('still here'),
      drain(graceMs) {
        draining.resolve(graceMs);
        return drained.promise;
      },
    },
    { host: '127.0.0.1', port: 0, graceMs: 70, onListening: listening.resolve },
  );
  const { url } = await listening.promise;
  stop.abort();
  expect(await draining.promise).toBe(70);
  expect(await (await fetch(url)).text()).toBe('still here');
  drained.resolve();
  await served;
  await expect(fetch(url)).rejects.toThrow();
});

test('reports an unavailable address with a hint', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void other.close());
  await once(other, 'listening');
  const address = other.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  await expect(listen(() => new Response(), { host: '127.0.0.1', port })).rejects.toMatchObject({
    kind: 'invalid_input',
    message: `Port ${port} of 127.0.0.1 is in use by another program.`,
  });
});

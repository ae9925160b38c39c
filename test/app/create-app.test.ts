import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createApp } from '../../src/app/create-app.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { createTemporaryDirectory } from '../support/temporary-directory.ts';
import { createWordEmbedder } from '../support/word-embedder.ts';

test('withConfig binds every port to the new settings and shares the embedder', async () => {
  const home = await createTemporaryDirectory();
  const config = loadConfig({ flags: { home }, env: {}, cwd: home });
  const embedder = createWordEmbedder();
  const app = createApp(config, { embedder });
  await (await app.catalog.openOrCreate('here', await app.identity())).close();

  const elsewhere = app.withConfig({ ...config, home: join(home, 'elsewhere') });
  expect(elsewhere.config.home).toBe(join(home, 'elsewhere'));
  expect(await elsewhere.catalog.list()).toEqual([]);
  expect(await app.catalog.list()).toEqual(['here']);
  expect(await elsewhere.embedder()).toBe(embedder);

  const reranking = app.withConfig({ ...config, rerank: { ...config.rerank, by: 'cohere' } });
  const store = await app.catalog.openOrCreate('here', await app.identity());
  await expect(reranking.retriever(store, { mode: 'hybrid' })).rejects.toThrow('COHERE_API_KEY');
  await expect(app.retriever(store, { mode: 'hybrid' })).resolves.toBeDefined();
  await store.close();
  await app.close();
});

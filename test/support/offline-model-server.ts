import { createApp } from '../../src/app/create-app.ts';
import { createModel } from '../../src/app/models.ts';
import { systemRuntime } from '../../src/app/system-runtime.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { listen } from '../../src/server/http/listen.ts';
import { createModelServer } from './model-server.ts';
import { modelLocation } from './model-weights.ts';

export const SERVED_MODEL = 'offline-served';

/** The offline model and the built-in embedder behind a server on this machine. Port 0 takes a free one. */
export async function startOfflineModelServer(port = 0) {
  const config = loadConfig({ flags: { modelDir: modelLocation().directory }, env: {}, cwd: '/' });
  const app = createApp(config);
  const server = createModelServer({
    model: await createModel(app, systemRuntime),
    modelName: SERVED_MODEL,
    embedder: app.embedder,
    embedderName: (await app.identity()).embedder,
  });
  const listening = await listen(server.fetch, { host: '127.0.0.1', port });
  return {
    url: `${listening.url}/v1`,
    async close() {
      await listening.close(0);
      await app.close();
    },
  };
}

// `node test/support/offline-model-server.ts 8089` serves until Ctrl-C, to record tapes from.
if (import.meta.main) {
  const { url } = await startOfflineModelServer(Number(process.argv[2] ?? 8089));
  process.stdout.write(`Serving the model ${SERVED_MODEL} on ${url} until Ctrl-C.\n`);
}

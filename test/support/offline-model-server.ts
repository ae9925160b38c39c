import { createApp } from '../../src/app/create-app.ts';
import { createConfiguredModel } from '../../src/app/create-model.ts';
import { systemRuntime } from '../../src/app/system-runtime.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { listen } from '../../src/server/http/listen.ts';
import { createModelServer } from './model-server.ts';
import { modelLocation } from './model-weights.ts';

export const SERVED_MODEL = 'offline-served';

/** Serves the offline model and the built-in embedder locally. Port 0 selects a free port. */
export async function startOfflineModelServer(port = 0) {
  const config = loadConfig({ flags: { modelDir: modelLocation().directory }, env: {}, cwd: '/' });
  const app = createApp(config);
  const server = createModelServer({
    model: await createConfiguredModel(app, systemRuntime),
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

// To record tapes: node test/support/offline-model-server.ts 8089
if (import.meta.main) {
  const { url } = await startOfflineModelServer(Number(process.argv[2] ?? 8089));
  process.stdout.write(`Serving the model ${SERVED_MODEL} at ${url}. Press Ctrl-C to stop.\n`);
}

import { once } from 'node:events';
import { createOfflineModel } from '../adapters/offline/offline-model.ts';
import { AppError } from '../domain/app-error.ts';
import { listen } from '../serve/http/listen.ts';
import { createModelServer } from '../serve/model/create-model-server.ts';
import { systemRuntime } from '../system-runtime.ts';
import { bySentence } from '../wire-agent.ts';
import { DEFAULT_MODEL_PORT, type ServeModelFlags } from './serve-model.ts';
import { createTerminal } from './terminal.ts';
import { withApp } from './with-app.ts';

const DEFAULT_NAME = 'offline-served';
/** For requests that are under way when the server is told to stop. */
const GRACE_MS = 3_000;

/** Serves the offline model until Ctrl-C. */
export function runServeModel({ port, name = DEFAULT_NAME, ...flags }: ServeModelFlags): Promise<void> {
  const chosen = checkedPort(port ?? DEFAULT_MODEL_PORT);
  return withApp(flags, async (app, signal) => {
    const terminal = createTerminal(process.stderr);
    // Loaded in a thread of its own meanwhile; a failure is told to whoever needs it.
    app.embedder().catch(() => {});
    const server = createModelServer({
      model: createOfflineModel({ similarity: bySentence(app), newId: systemRuntime.newId }),
      modelName: name,
      embedder: () => app.embedder(),
      embedderName: (await app.identity()).embedder,
      runtime: systemRuntime,
      onDefect: (message) => terminal.write(`${terminal.text(`A request failed: ${message}`)}\n`),
      ...(flags.verbose && {
        onRequest: ({ method, path, status, ms }) =>
          terminal.write(`${terminal.text(`${method} ${path} ${status} ${Math.round(ms)} ms`)}\n`),
      }),
    });
    const listening = await listen(server.fetch, { host: '127.0.0.1', port: chosen });
    const url = `${listening.url}/v1`;
    if (flags.json) process.stdout.write(`${JSON.stringify({ url, port: listening.port, model: name })}\n`);
    else process.stdout.write(`Serving the model ${name} on ${url} until Ctrl-C.\n`);
    if (!signal.aborted) await once(signal, 'abort');
    await listening.close(GRACE_MS);
  });
}

/** Throws `invalid_input`. */
export function checkedPort(port: number): number {
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new AppError('invalid_input', '--port must be a whole number from 0 to 65535.');
}

import { existsSync } from 'node:fs';
import { access, constants, mkdir } from 'node:fs/promises';
import { MODEL_FILES, type ModelFile, readModelFile, weightsLocation } from '../../adapters/onnx/weights.ts';
import { createSqliteSessionStore } from '../../adapters/sqlite/sessions/sqlite-session-store.ts';
import type { Config } from '../../config/load-config.ts';
import { AppError, messageOf } from '../../domain/app-error.ts';
import { type App, sessionsPath } from '../../wire.ts';
import { type Check, check } from './check.ts';

/** What lies on this machine, and the embedder wherever it is. */
export async function machineChecks(app: App): Promise<Check[]> {
  const { config } = app;
  const checks = [
    await check('node', async () => `Node ${process.versions.node} at ${process.execPath}`),
    await check('data directory', () => dataDirectory(config)),
  ];
  if (config.embedding.embedder === 'minilm') {
    checks.push(await check('embedding model', () => weights(config)));
  }
  checks.push(await check('embedder', () => embedder(app)));
  // Only where there are any: looking must not make the file.
  const path = sessionsPath(config);
  if (existsSync(path)) checks.push(await check('sessions', () => sessions(path)));
  return checks;
}

async function dataDirectory({ home }: Config): Promise<string> {
  try {
    await mkdir(home, { recursive: true });
    await access(home, constants.W_OK);
    return home;
  } catch (error) {
    throw new AppError('configuration_error', `${home} cannot be written to (${messageOf(error)}).`, {
      hint: 'Check its permissions, or set CITELOOP_HOME to a directory of yours.',
    });
  }
}

async function weights(config: Config): Promise<string> {
  const { directory, fetchable } = weightsLocation(config.cache, config.modelDir);
  const missing: string[] = [];
  for (const file of Object.keys(MODEL_FILES) as ModelFile[]) {
    if ((await readModelFile(directory, file)) === null) missing.push(file);
  }
  if (missing.length === 0) return `${directory}, checksums as expected`;
  if (fetchable && missing.length === Object.keys(MODEL_FILES).length)
    return 'not fetched yet; it is on first use';
  throw new AppError('configuration_error', `${directory} lacks ${missing.join(', ')}.`, {
    hint: fetchable
      ? 'Remove that directory; it is fetched anew.'
      : 'Complete the copy that CITELOOP_MODEL_DIR names.',
  });
}

async function embedder(app: App): Promise<string> {
  const loaded = await app.embedder();
  const vector = await loaded.embedQuery('Is this working?');
  const length = Math.hypot(...vector);
  if (vector.length !== loaded.dimensions || Math.abs(length - 1) > 0.01) {
    throw new AppError(
      'configuration_error',
      `${loaded.id} does not give unit vectors of ${loaded.dimensions} dimensions.`,
    );
  }
  return `${loaded.id}, ${loaded.dimensions} dimensions, threshold ${loaded.scoreThreshold}`;
}

async function sessions(path: string): Promise<string> {
  const store = createSqliteSessionStore(path);
  try {
    return `${(await store.list()).length} kept in ${path}`;
  } finally {
    await store.close();
  }
}

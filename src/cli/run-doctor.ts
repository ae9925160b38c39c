import { existsSync } from 'node:fs';
import { access, constants, mkdir } from 'node:fs/promises';
import { MODEL_FILES, type ModelFile, readModelFile, weightsLocation } from '../adapters/onnx/weights.ts';
import { probeServices } from '../adapters/services/probe-services.ts';
import { createSqliteSessionStore } from '../adapters/sqlite/sessions/sqlite-session-store.ts';
import type { Config } from '../config/load-config.ts';
import { AppError, messageOf } from '../domain/app-error.ts';
import { assertSameEmbedder } from '../domain/collection-identity.ts';
import { hintOf } from '../domain/error-response.ts';
import { type App, sessionsPath } from '../wire.ts';
import { createTerminal } from './terminal.ts';
import { type CommonFlags, withApp } from './with-app.ts';

const EXIT_UNHEALTHY = 3;

export interface Check {
  name: string;
  ok: boolean;
  detail: string;
  /** What to do about it; null if there is nothing to do. */
  fix: string | null;
}

/** Looks at everything a run needs. Failing checks say how to mend them and make the exit code 3. */
export function runDoctor(flags: CommonFlags): Promise<number> {
  return withApp(flags, async (app) => {
    const checks = [
      await check('node', async () => `Node ${process.versions.node} at ${process.execPath}`),
      await check('data directory', () => dataDirectory(app.config)),
      await check('embedding model', () => weights(app.config)),
      await check('embedder', () => embedder(app)),
      ...(await collections(app)),
      ...(await sessions(app.config)),
      ...(await services(app.config)),
    ];
    if (flags.json) process.stdout.write(`${JSON.stringify({ ok: checks.every(({ ok }) => ok), checks })}\n`);
    else render(checks);
    return checks.every(({ ok }) => ok) ? 0 : EXIT_UNHEALTHY;
  });
}

/** A check's detail is what `probe` returns; what it throws is its failure, with the fix as the hint. */
async function check(name: string, probe: () => Promise<string>): Promise<Check> {
  try {
    return { name, ok: true, detail: await probe(), fix: null };
  } catch (error) {
    return {
      name,
      ok: false,
      detail: messageOf(error),
      fix: error instanceof AppError ? hintOf(error) : null,
    };
  }
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
  return `${loaded.id}, ${loaded.dimensions} dimensions`;
}

async function collections(app: App): Promise<Check[]> {
  const checks: Check[] = [];
  for (const name of await app.catalog.list()) {
    checks.push(
      await check(`collection ${name}`, async () => {
        const store = await app.catalog.open(name);
        if (store === null) return 'empty';
        try {
          const problems = await store.check();
          if (problems.length > 0) {
            throw new AppError('retrieval_error', problems.join(' '), {
              hint: `Restore it from a backup, or \`citeloop collections delete ${name}\` and ingest again.`,
            });
          }
          assertSameEmbedder(name, store.identity, app.identity);
          const { documents, chunks } = await store.info();
          return `${documents} documents, ${chunks} chunks, sound`;
        } finally {
          await store.close();
        }
      }),
    );
  }
  return checks;
}

/** Only where there are any: looking must not make the file. */
async function sessions(config: Config): Promise<Check[]> {
  const path = sessionsPath(config);
  if (!existsSync(path)) return [];
  const store = createSqliteSessionStore(path);
  const checked = await check('sessions', async () => `${(await store.list()).length} kept in ${path}`);
  await store.close();
  return [checked];
}

async function services({ agent, qdrantUrl, secrets }: Config): Promise<Check[]> {
  const probes = probeServices({
    openai: { key: secrets.openaiApiKey?.reveal(), baseUrl: agent.baseUrl },
    cohere: { key: secrets.cohereApiKey?.reveal() },
    qdrant: { key: secrets.qdrantApiKey?.reveal(), url: qdrantUrl },
  });
  return Promise.all(probes.map(({ name, probe }) => check(name, probe)));
}

function render(checks: readonly Check[]): void {
  const terminal = createTerminal(process.stdout);
  for (const { name, ok, detail, fix } of checks) {
    const mark = ok ? terminal.text('✓', 'green') : terminal.text('✗', 'red');
    terminal.write(`${mark} ${terminal.text(name, 'bold')}: ${terminal.text(detail)}\n`);
    if (fix !== null) terminal.write(`  ${terminal.text(fix, 'yellow')}\n`);
  }
}

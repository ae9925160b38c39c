import { existsSync } from 'node:fs';
import { access, constants } from 'node:fs/promises';
import { type App, usesReranker } from '../../app/create-app.ts';
import { isModelMissing, listOllamaModels } from '../../app/create-model.ts';
import { checkModelWeights, probeConfiguredModel, probeServices } from '../../app/probe-services.ts';
import { checkSessionStore, sessionStorePath } from '../../app/sessions.ts';
import type { AppConfig } from '../../config/load-config.ts';
import { isLocalModel } from '../../domain/agent-config.ts';
import { AppError, messageOf } from '../../faults/app-error.ts';
import { makeDirectory } from '../../files/make-directory.ts';
import { formatCount } from '../../text/format-count.ts';
import { oneLine, visibleText } from '../../text/visible-text.ts';
import type { CommonFlags } from '../flags/common-flags.ts';
import { formatHint } from '../format-advice.ts';
import { createTerminal, printJson } from '../terminal/terminal.ts';
import { renderText, wrapPieces } from '../terminal/wrap-text.ts';
import { effectiveSettings } from './config.ts';
import { withApp } from './with-app.ts';

const EXIT_UNHEALTHY = 3;
const INDENT = '  ';
/** Damaged documents that are named. */
const MAX_NAMED = 5;

interface Check {
  name: string;
  ok: boolean;
  detail: string;
  /** What to do; null if there is nothing to do. */
  fix: string | null;
}

export function runDoctor(flags: CommonFlags): Promise<number> {
  return withApp({ flags }, async (app) => {
    const checks = [
      ...(await localChecks(app)),
      ...(await collectionChecks(app)),
      ...(await serviceChecks(app)),
    ];
    const ok = checks.every((each) => each.ok);
    if (flags.json) printJson({ ok, checks });
    else checks.forEach(renderCheck);
    return ok ? 0 : EXIT_UNHEALTHY;
  });
}

function renderCheck({ name, ok, detail, fix }: Check): void {
  const terminal = createTerminal(process.stdout);
  const pieces = [
    { text: ok ? '✓' : '✗', paint: (text: string) => terminal.text(text, ok ? 'green' : 'red') },
    { text: name, paint: (text: string) => terminal.text(text, 'bold') },
    { text: `: ${visibleText(detail)}`, gap: '' },
  ];
  terminal.write(`${wrapPieces(terminal, pieces, INDENT)}\n`);
  if (fix !== null) renderText(terminal, fix, { style: 'yellow', indent: INDENT });
}

type CheckResult = string | Pick<Check, 'detail' | 'fix'>;

/** What `probe` throws is the detail of a failed check, and its hint is the fix. */
async function check(name: string, probe: () => Promise<CheckResult>): Promise<Check> {
  try {
    const result = await probe();
    return { name, ok: true, ...(typeof result === 'string' ? { detail: result, fix: null } : result) };
  } catch (error) {
    const fix = error instanceof AppError ? formatHint(error) : null;
    return { name, ok: false, detail: messageOf(error), fix };
  }
}

async function localChecks(app: App): Promise<Check[]> {
  const { config } = app;
  const checks = [
    await check('node', async () => `Node ${process.versions.node} at ${process.execPath}`),
    await check('settings', async () => describeSettings(config)),
    await check('data directory', () => checkDataDirectory(config)),
  ];
  if (config.embedding.embedder === 'minilm') {
    checks.push(await check('embedding model', () => checkEmbeddingModel(config)));
  }
  checks.push(await check('embedder', () => checkEmbedder(app)));
  // Opening the sessions would create the file.
  const path = sessionStorePath(config);
  if (existsSync(path)) checks.push(await check('sessions', () => checkSessionFile(app, path)));
  return checks;
}

function describeSettings(config: AppConfig): string {
  const given = effectiveSettings(config).filter(({ name }) => config.origins[name] !== undefined);
  if (given.length === 0) return `defaults (no file at ${config.settingsFile})`;
  return given
    .map(({ name, value, origin }) => `${name} ${oneLine(JSON.stringify(value), 60)} (${origin})`)
    .join(', ');
}

async function checkDataDirectory({ home }: AppConfig): Promise<string> {
  try {
    makeDirectory(home);
    await access(home, constants.W_OK);
    return home;
  } catch (error) {
    throw new AppError('configuration_error', `Cannot write to ${home} (${messageOf(error)}).`, {
      hint: 'Check its permissions, or set CITELOOP_HOME to another directory.',
    });
  }
}

async function checkEmbeddingModel(config: AppConfig): Promise<string> {
  const { directory, isDownloadable, missing, empty } = await checkModelWeights(config);
  if (missing.length === 0) return `${directory}, checksums match`;
  if (isDownloadable && empty) return 'not downloaded yet; happens on first use';
  throw new AppError('configuration_error', `Missing in ${directory}: ${missing.join(', ')}.`, {
    hint: isDownloadable
      ? 'Remove that directory; it is downloaded again.'
      : 'Complete the copy in CITELOOP_MODEL_DIR.',
  });
}

async function checkEmbedder(app: App): Promise<string> {
  const { id, dimensions, scoreThreshold, embedQuery } = await app.embedder();
  const vector = await embedQuery('Is this working?');
  if (vector.length !== dimensions || Math.abs(Math.hypot(...vector) - 1) > 0.01) {
    throw new AppError(
      'configuration_error',
      `${id} does not return unit vectors of ${dimensions} dimensions.`,
    );
  }
  return `${id}, ${dimensions} dimensions, threshold ${scoreThreshold}`;
}

async function checkSessionFile(app: App, path: string): Promise<string> {
  const problems = await checkSessionStore(app.config);
  if (problems.length > 0) {
    throw new AppError('retrieval_error', `${path} is damaged. ${problems.join(' ')}`, {
      hint: 'Restore the file from a backup, or move it away to start over.',
    });
  }
  const store = await app.sessions();
  const { length } = await store.list().finally(() => store.close());
  return `${formatCount(length, 'session')} in ${path}, intact`;
}

async function collectionChecks(app: App): Promise<Check[]> {
  let names: string[] = [];
  const checks = [
    await check('store', async () => {
      names = await app.catalog.list();
      const { store, qdrant } = app.config;
      const where = store === 'qdrant' ? `Qdrant at ${new URL(qdrant.url).host}` : 'SQLite files';
      return `${where}, ${formatCount(names.length, 'collection')}`;
    }),
  ];
  for (const name of names) checks.push(await check(`collection ${name}`, () => checkCollection(app, name)));
  return checks;
}

async function checkCollection(app: App, name: string): Promise<CheckResult> {
  const remove = `citeloop collections delete ${name}`;
  const fill = `Add documents: citeloop ingest <path> --collection ${name}. Or delete it: ${remove}`;
  const store = await app.catalog.open(name);
  if (store === null) return { detail: 'empty', fix: fill };
  try {
    const problems = await store.check();
    if (problems.length > 0) {
      throw new AppError('retrieval_error', problems.join(' '), {
        hint: `Restore it from a backup, or delete it and ingest again: ${remove}`,
      });
    }
    const damaged = (await store.damaged?.()) ?? [];
    if (damaged.length > 0) {
      const names = `${damaged.slice(0, MAX_NAMED).join(', ')}${damaged.length > MAX_NAMED ? ', …' : ''}`;
      const sentence = `${formatCount(damaged.length, 'document')} changed in the collection file since the ingest: ${names}`;
      throw new AppError('retrieval_error', sentence, {
        hint: `Ingest again what has changed: citeloop ingest <path> --collection ${name}`,
      });
    }
    const { documents, chunks, withoutVector } = await store.info();
    if (chunks === 0) return { detail: 'empty', fix: fill };
    const isReadable = await app.assertReadable(store).then(
      () => true,
      () => false,
    );
    const counts = `${formatCount(documents, 'document')}, ${formatCount(chunks, 'chunk')}, intact`;
    // Not a failure: collections may use different embedders.
    const detail = isReadable ? counts : `${counts}; embedded with ${store.identity.embedder}`;
    if (withoutVector === 0) return detail;
    return {
      detail: `${detail}; ${withoutVector} chunks are not embedded and found by words only`,
      fix: 'If no ingest is running, run it again to embed them.',
    };
  } finally {
    await store.close();
  }
}

/** Checks the configured services: the model with a small request, the others for reachability. */
async function serviceChecks(app: App): Promise<Check[]> {
  const { agent, modelService, cohereKey, cohereBaseUrl, store, qdrant } = app.config;
  const isHosted = !isLocalModel(agent.model) || isModelMissing(app.config);
  const probes = probeServices({
    // A model that answers needs no further check.
    model: isHosted || !(modelService.key || agent.baseUrl) ? undefined : modelService,
    cohere: { key: cohereKey, baseUrl: cohereBaseUrl },
    qdrant: store === 'qdrant' ? qdrant : undefined,
  });
  const [first, ...others] = isHosted ? [] : await listOllamaModels();
  const useOllama = `To use it: citeloop chat --provider ollama --model ${first}`;
  return Promise.all([
    check('model', async () => (isHosted ? checkModel(app) : 'offline, which quotes passages')),
    ...(first === undefined
      ? []
      : [check('ollama', async () => ({ detail: [first, ...others].join(', '), fix: useOllama }))]),
    ...(usesReranker(app.config) ? [check('reranker', () => checkReranker(app))] : []),
    ...probes.map(({ name, probe }) => check(name, probe)),
  ]);
}

async function checkModel(app: App): Promise<string> {
  const { model, host, api, tools, streaming, usage } = await probeConfiguredModel(app);
  const abilities = [
    tools ? 'calls tools' : 'did not call the test tool',
    streaming ? 'streams' : 'does not stream',
    usage ? 'reports usage' : 'does not report usage',
  ];
  const detail = `${model} at ${host} (${api}): ${abilities.join(', ')}`;
  if (tools) return detail;
  throw new AppError('configuration_error', detail, {
    hint: 'A model without tools cannot decide to search. Use --policy always, or another model.',
  });
}

async function checkReranker(app: App): Promise<string> {
  const reranker = await app.reranker();
  const [best] = await reranker.rerank('What is a dog?', ['A dog is an animal.', 'Rain is water.'], 1);
  return `${reranker.id}, best score of two texts ${best?.score.toFixed(2)}`;
}

import { existsSync } from 'node:fs';
import { access, constants, mkdir } from 'node:fs/promises';
import type { App } from '../../app/create-app.ts';
import { checkWeights, type ModelProbe, probeModel, probeServices } from '../../app/probes.ts';
import { checkSessions, sessionsPath } from '../../app/sessions.ts';
import type { Config } from '../../config/load-config.ts';
import { runsHere } from '../../domain/agent-config.ts';
import { advice, command, fillCollection } from '../../faults/advice.ts';
import { AppError, messageOf } from '../../faults/app-error.ts';
import { counted } from '../../text/phrasing.ts';
import { oneLine, visibleText } from '../../text/visible-text.ts';
import { commandLineHint, onCommandLine } from '../advice.ts';
import type { CommonFlags } from '../flags/common-flags.ts';
import { createTerminal } from '../terminal/terminal.ts';
import { flowLine, renderText } from '../terminal/wrapping.ts';
import { effectiveSettings } from './config.ts';
import { withApp } from './with-app.ts';

const EXIT_UNHEALTHY = 3;
const INDENT = '  ';

/** Looks at everything a run needs. Failing checks say how to mend them and make the exit code 3. */
export function runDoctor(flags: CommonFlags): Promise<number> {
  return withApp({ flags }, async (app) => {
    const checks = [
      ...(await machineChecks(app)),
      ...(await collectionChecks(app)),
      ...(await serviceChecks(app)),
    ];
    if (flags.json) process.stdout.write(`${JSON.stringify({ ok: checks.every(({ ok }) => ok), checks })}\n`);
    else render(checks);
    return checks.every(({ ok }) => ok) ? 0 : EXIT_UNHEALTHY;
  });
}

function render(checks: readonly Check[]): void {
  const terminal = createTerminal(process.stdout);
  for (const { name, ok, detail, fix } of checks) {
    const line = flowLine(
      terminal,
      [
        { text: ok ? '✓' : '✗', paint: (text) => terminal.text(text, ok ? 'green' : 'red') },
        { text: name, paint: (text) => terminal.text(text, 'bold') },
        { text: `: ${visibleText(detail)}`, gap: '' },
      ],
      INDENT,
    );
    terminal.write(`${line}\n`);
    if (fix !== null) renderText(terminal, fix, { style: 'yellow', indent: INDENT });
  }
}

interface Check {
  name: string;
  ok: boolean;
  detail: string;
  /** What to do about it; null if there is nothing to do. */
  fix: string | null;
}

/** A check's detail is what `probe` returns; what it throws is its failure, with the fix as the hint. */
async function check(
  name: string,
  probe: () => Promise<string | Pick<Check, 'detail' | 'fix'>>,
): Promise<Check> {
  try {
    const found = await probe();
    return { name, ok: true, ...(typeof found === 'string' ? { detail: found, fix: null } : found) };
  } catch (error) {
    return {
      name,
      ok: false,
      detail: messageOf(error),
      fix: error instanceof AppError ? commandLineHint(error) : null,
    };
  }
}

/** What lies on this machine, and the embedder wherever it is. */
async function machineChecks(app: App): Promise<Check[]> {
  const { config } = app;
  const checks = [
    await check('node', async () => `Node ${process.versions.node} at ${process.execPath}`),
    await check('settings', async () => settingsOf(config)),
    await check('data directory', () => dataDirectory(config)),
  ];
  if (config.embedding.embedder === 'minilm') {
    checks.push(await check('embedding model', () => weights(config)));
  }
  checks.push(await check('embedder', () => embedder(app)));
  // Only where there are any: looking must not make the file.
  const path = sessionsPath(config);
  if (existsSync(path)) checks.push(await check('sessions', () => sessions(app, path)));
  return checks;
}

/** Each value that is no default, with where it comes from. */
function settingsOf(config: Config): string {
  const given = effectiveSettings(config).filter(({ name }) => config.origins[name] !== undefined);
  if (given.length === 0) return `all as by default; yours would be in ${config.settingsFile}`;
  return given
    .map(({ name, value, origin }) => `${name} ${oneLine(JSON.stringify(value), 60)} (${origin})`)
    .join(', ');
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
  const { directory, fetchable, missing, empty } = await checkWeights(config);
  if (missing.length === 0) return `${directory}, checksums as expected`;
  if (fetchable && empty) return 'not fetched yet; it is on first use';
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

async function sessions(app: App, path: string): Promise<string> {
  const problems = await checkSessions(app.config);
  if (problems.length > 0) {
    throw new AppError('retrieval_error', `${path} is damaged. ${problems.join(' ')}`, {
      hint: 'Restore that file from a backup, or move it away to begin anew.',
    });
  }
  const store = await app.sessions();
  try {
    return `${(await store.list()).length} kept in ${path}, sound`;
  } finally {
    await store.close();
  }
}

/** Each collection of the configured store: is it whole, and made with the configured embedder? */
async function collectionChecks(app: App): Promise<Check[]> {
  let names: string[] = [];
  const listed = await check('store', async () => {
    names = await app.catalog.list();
    const { store, qdrant } = app.config;
    const where = store === 'qdrant' ? `Qdrant at ${new URL(qdrant.url).host}` : 'SQLite files';
    return `${where}, ${counted(names.length, 'collection')}`;
  });
  const checks = [listed];
  for (const name of names) checks.push(await check(`collection ${name}`, () => collection(app, name)));
  return checks;
}

async function collection(app: App, name: string): Promise<string | Pick<Check, 'detail' | 'fix'>> {
  const store = await app.catalog.open(name);
  // Not a fault either: somebody may be about to fill it. But whoever asks it something should know.
  const empty = {
    detail: 'empty: there is nothing in it to search',
    fix: onCommandLine([
      ...fillCollection(name),
      ...advice`, or remove it${command(`collections delete ${name}`)}`,
    ]),
  };
  if (store === null) return empty;
  try {
    const problems = await store.check();
    if (problems.length > 0) {
      throw new AppError('retrieval_error', problems.join(' '), {
        hint: `Restore it from a backup, or \`citeloop collections delete ${name}\` and ingest again.`,
      });
    }
    const { documents, chunks, withoutVector } = await store.info();
    if (chunks === 0) return empty;
    const facts = `${counted(documents, 'document')}, ${counted(chunks, 'chunk')}, sound`;
    const isReadable = await app.assertReadable(store).then(
      () => true,
      () => false,
    );
    // Not a fault: whoever has several embedders has collections of each.
    const detail = isReadable ? facts : `${facts}; made with the embedder ${store.identity.embedder}`;
    if (withoutVector === 0) return detail;
    return {
      detail: `${detail}; ${withoutVector} chunks have no vector yet and are found by their words alone`,
      fix: 'If no ingest is under way, run it again: it goes on where it stopped.',
    };
  } finally {
    await store.close();
  }
}

/** Every service that is configured. The model is asked for one tiny answer; the others only whether they are there. */
async function serviceChecks(app: App): Promise<Check[]> {
  const { agent, modelService, secrets, rerank, store, qdrant } = app.config;
  const isHosted = !runsHere(agent.model) || app.config.origins.provider !== undefined;
  const probes = probeServices({
    // One that answers needs no further question.
    model: isHosted || !(modelService.key || agent.baseUrl) ? undefined : modelService,
    cohere: { key: secrets.cohereApiKey?.reveal(), baseUrl: app.config.cohereBaseUrl },
    qdrant: store === 'qdrant' ? { key: secrets.qdrantApiKey?.reveal(), url: qdrant.url } : undefined,
  });
  return Promise.all([
    ...(isHosted ? [check('model', () => model(app))] : []),
    ...(rerank.on ? [check('reranker', () => reranker(app))] : []),
    ...probes.map(({ name, probe }) => check(name, probe)),
  ]);
}

async function model(app: App): Promise<string> {
  const probe = await probeModel(app);
  const said = `${probe.model} at ${probe.host} answers by ${probe.api}: ${described(probe)}`;
  if (probe.tools) return said;
  throw new AppError('configuration_error', said, {
    hint: 'Without tools it cannot search by itself: use --policy always, or another model.',
  });
}

function described({ tools, streaming, usage }: ModelProbe): string {
  return [
    tools ? 'calls tools' : 'did not call the tool it was asked to call',
    streaming ? 'streams' : 'does not stream',
    usage ? 'reports usage' : 'does not report usage',
  ].join(', ');
}

async function reranker(app: App): Promise<string> {
  const loaded = await app.reranker();
  const [best] = await loaded.rerank('What is a dog?', ['A dog is an animal.', 'Rain is water.'], 1);
  return `${loaded.id} answers; its best of two scores ${best?.score.toFixed(2)}`;
}

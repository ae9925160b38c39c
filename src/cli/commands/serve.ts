import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import type { App } from '../../app/create-app.ts';
import { createCollectionAgent } from '../../app/open-agent.ts';
import { openCollection } from '../../app/open-collection.ts';
import { configuredSecrets } from '../../app/run-settings.ts';
import { systemRuntime } from '../../app/system-runtime.ts';
import { integerSchema, parseFlag, portSchema } from '../../config/parse-value.ts';
import { isLocalModel } from '../../domain/agent-config.ts';
import { redactShownText } from '../../faults/redactor.ts';
import { pageDirectory, version } from '../../package.ts';
import type { ChunkStore } from '../../ports/chunk-store.ts';
import type { SessionStore } from '../../ports/session-store.ts';
import { createAgentServer } from '../../server/create-agent-server.ts';
import { createRequestLog } from '../../server/http/create-http-app.ts';
import { isLoopbackHost } from '../../server/http/guards.ts';
import { type ListeningServer, serveUntil } from '../../server/http/listen.ts';
import { readPageFiles } from '../../server/http/page-files.ts';
import { createServedCollections, type ServedCollections } from '../../server/turns/served-collections.ts';
import type { FlagValues } from '../flags/common-flags.ts';
import { SERVE_DEFAULTS, type ServerFlags } from '../flags/server-flags.ts';
import { createTerminal, printJson } from '../terminal/terminal.ts';
import { readAccessToken, readNamedTokens } from './access-tokens.ts';
import { toSettings } from './read-flags.ts';
import { withApp } from './with-app.ts';

export interface ServeFlags
  extends ServerFlags,
    FlagValues<'concurrency' | 'queue' | 'turnTimeout' | 'grace', number> {
  tokens?: string | undefined;
}

const MAX_NUMBER = 1_000_000;
const MAX_BODY_BYTES = 2_000_000;
const YOUNG_GENERATION_BYTES = 16 * 2 ** 20;

/** Serves until Ctrl-C, then waits some seconds for running turns. */
export function runServe(flags: ServeFlags): Promise<void> {
  const { host = SERVE_DEFAULTS.host } = flags;
  const port = parseFlag('--port', flags.port, portSchema) ?? SERVE_DEFAULTS.port;
  const graceMs =
    (parseFlag('--grace', flags.grace, integerSchema(0, MAX_NUMBER)) ?? SERVE_DEFAULTS.grace) * 1000;
  const tokens = readNamedTokens(flags);
  const token = tokens === undefined ? readAccessToken(flags, host) : undefined;
  return withApp({ flags: toSettings(flags) }, async (app, { signal }) => {
    const { model, policy, verbose } = app.config.agent;
    const limits = readLimits(flags, isLocalModel(model));
    const secrets = [token, ...(tokens ?? []).map((each) => each.token), ...configuredSecrets(app.config)];
    const terminal = createTerminal(process.stderr);
    const writeLog = (line: string) => terminal.write(`${terminal.text(redactShownText(line, secrets))}\n`);
    limitYoungGeneration();
    // Starts to load while the collection is opened.
    if (flags.mode !== 'lexical') app.embedder().catch(() => {});
    const sessions = await app.sessions();
    const collections = await serveCollections(app, signal, flags, sessions);
    try {
      const server = createAgentServer({
        collections,
        sessions,
        runtime: systemRuntime,
        model,
        policy,
        version,
        page: await readPageFiles(pageDirectory()),
        token,
        tokens,
        limits,
        hosts: { names: flags.allowHost ?? [], anyAddress: !isLoopbackHost(host) },
        ...createRequestLog(writeLog, verbose),
      });
      const onListening = ({ url, port }: ListeningServer) => {
        if (flags.json) printJson({ url, port });
        else process.stdout.write(`Serving on ${url}, OpenAI API at ${url}/v1. Press Ctrl-C to stop.\n`);
      };
      await serveUntil(signal, server, { host, port, graceMs, onListening });
    } finally {
      await collections.close();
      await sessions.close();
    }
  });
}

/** Under load, V8 lets the young generation grow to 128 MB, which makes turns no faster. */
function limitYoungGeneration(): void {
  const observer = new PerformanceObserver(() => {
    const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
    if (young === undefined || young.space_size < YOUNG_GENERATION_BYTES) return;
    setFlagsFromString('--semi-space-growth-factor=1');
    observer.disconnect();
  });
  observer.observe({ entryTypes: ['gc'] });
}

/** Opens the configured collection at once, so that its errors are reported at start; others on demand. */
async function serveCollections(
  app: App,
  signal: AbortSignal,
  flags: ServeFlags,
  sessions: SessionStore,
): Promise<ServedCollections> {
  const first = await openCollection(app, signal);
  let unused: ChunkStore | null = first;
  const collections = createServedCollections({
    defaultName: first.name,
    list: () => app.catalog.list(),
    async openStore(name) {
      const ready = name === first.name ? unused : null;
      if (ready !== null) unused = null;
      const store = ready ?? (await app.catalog.open(name));
      if (store !== null) await app.assertReadable(store);
      return store;
    },
    createAgent: (store) => createCollectionAgent(app, { mode: flags.mode, store, sessions }),
  });
  await collections.open();
  return collections;
}

function readLimits({ concurrency, queue, turnTimeout }: ServeFlags, isOffline: boolean) {
  const concurrent = isOffline ? SERVE_DEFAULTS.offlineConcurrency : SERVE_DEFAULTS.concurrency;
  const seconds = parseFlag('--turn-timeout', turnTimeout, integerSchema(1, MAX_NUMBER));
  return {
    concurrent: parseFlag('--concurrency', concurrency, integerSchema(1, MAX_NUMBER)) ?? concurrent,
    waiting: parseFlag('--queue', queue, integerSchema(0, MAX_NUMBER)) ?? SERVE_DEFAULTS.queue,
    turnMs: (seconds ?? SERVE_DEFAULTS.turnTimeout) * 1000,
    maxBodyBytes: MAX_BODY_BYTES,
  };
}

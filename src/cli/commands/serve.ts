import type { App } from '../../app/create-app.ts';
import { createCollectionAgent } from '../../app/open-agent.ts';
import { openCollection } from '../../app/open-collection.ts';
import { configuredSecrets } from '../../app/run-settings.ts';
import { systemRuntime } from '../../app/system-runtime.ts';
import { portNumber, readFlag, wholeNumber } from '../../config/read-value.ts';
import { runsHere } from '../../domain/agent-config.ts';
import { redactKeys } from '../../faults/redactor.ts';
import { pageDirectory, version } from '../../package.ts';
import type { ChunkStore } from '../../ports/chunk-store.ts';
import type { SessionStore } from '../../ports/session-store.ts';
import { createAgentServer } from '../../server/create-agent-server.ts';
import type { EndedRequest } from '../../server/http/create-http-app.ts';
import { type Listening, serveUntil } from '../../server/http/listen.ts';
import { readPageFiles } from '../../server/http/page-files.ts';
import { createServedCollections, type ServedCollections } from '../../server/turns/served-collections.ts';
import { SERVE_DEFAULTS, type ServerFlags } from '../flags/server-flags.ts';
import { createTerminal } from '../terminal/terminal.ts';
import { asSettings } from './read-flags.ts';
import { isLoopback, namedTokensOf, tokenOf } from './serve-token.ts';
import { withApp } from './with-app.ts';

export interface ServeFlags extends ServerFlags {
  concurrency?: number | undefined;
  queue?: number | undefined;
  turnTimeout?: number | undefined;
  grace?: number | undefined;
  /** A file of named tokens. */
  tokens?: string | undefined;
}

/** Of seconds, and of questions at a time. */
const MOST = 1_000_000;
const MAX_BODY_BYTES = 2_000_000;

/** Serves until Ctrl-C; then lets running turns finish for a while. */
export function runServe(flags: ServeFlags): Promise<void> {
  const { host = SERVE_DEFAULTS.host } = flags;
  const port = readFlag('--port', flags.port, portNumber) ?? SERVE_DEFAULTS.port;
  const graceMs = (readFlag('--grace', flags.grace, wholeNumber(0, MOST)) ?? SERVE_DEFAULTS.grace) * 1000;
  const tokens = namedTokensOf(flags);
  const token = tokens === undefined ? tokenOf(flags, host) : undefined;
  return withApp({ flags: asSettings(flags), judgeInWorker: true }, async (app, { signal }) => {
    const limits = limitsOf(flags, runsHere(app.config.agent.model));
    // The embedder and the judge are loaded in threads of their own meanwhile.
    if (flags.mode !== 'lexical') app.judge().catch(() => {});
    const sessions = await app.sessions();
    const collections = await serveCollections(app, signal, flags, sessions);
    try {
      const server = createAgentServer({
        collections,
        sessions,
        runtime: systemRuntime,
        model: app.config.agent.model,
        policy: app.config.agent.policy,
        version,
        page: await readPageFiles(pageDirectory()),
        token,
        tokens,
        limits,
        hosts: { names: flags.allowHost ?? [], anyAddress: !isLoopback(host) },
        ...createLog(app, app.config.agent.verbose, [token, ...(tokens ?? []).map((each) => each.token)]),
      });
      const onListening = (listening: Listening) => announce(listening, flags.json ?? false);
      await serveUntil(signal, server, { host, port, graceMs, onListening });
    } finally {
      await collections.close();
      await sessions.close();
    }
  });
}

function announce({ url, port }: Listening, json: boolean): void {
  process.stdout.write(
    json
      ? `${JSON.stringify({ url, port })}\n`
      : `Serving on ${url} until Ctrl-C; the OpenAI API is at ${url}/v1.\n`,
  );
}

/** The configured collection is opened now, so that what is wrong with it is told at once; others when asked for. */
async function serveCollections(
  app: App,
  signal: AbortSignal,
  flags: ServeFlags,
  sessions: SessionStore,
): Promise<ServedCollections> {
  const first = await openCollection(app, signal);
  let unused: ChunkStore | null = first;
  const options = { mode: flags.mode, readSource: flags.tools?.includes('read_source') };
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
    createAgent: (store) => createCollectionAgent(app, { ...options, store, sessions }),
  });
  await collections.open();
  return collections;
}

/** Who called which route, how it ended and how long it took. Never a question, an answer, a header or a token. */
function createLog(app: App, verbose: boolean, tokens: readonly (string | undefined)[]) {
  const terminal = createTerminal(process.stderr);
  const secrets = [...tokens, ...configuredSecrets(app.config)];
  const write = (line: string) => terminal.write(`${terminal.text(redactKeys(line, secrets))}\n`);
  return {
    onInternalError: (message: string) => write(`A request failed: ${message}`),
    ...(verbose && {
      onRequest: ({ method, path, status, ms, caller }: EndedRequest) =>
        write(
          `${new Date().toISOString()} ${caller === null ? '' : `${caller} `}${method} ${path} ${status} ${Math.round(ms)} ms`,
        ),
    }),
  };
}

function limitsOf({ concurrency, queue, turnTimeout }: ServeFlags, here: boolean) {
  const usual = here ? SERVE_DEFAULTS.offlineConcurrency : SERVE_DEFAULTS.concurrency;
  return {
    concurrent: readFlag('--concurrency', concurrency, wholeNumber(1, MOST)) ?? usual,
    waiting: readFlag('--queue', queue, wholeNumber(0, MOST)) ?? SERVE_DEFAULTS.queue,
    turnMs:
      (readFlag('--turn-timeout', turnTimeout, wholeNumber(1, MOST)) ?? SERVE_DEFAULTS.turnTimeout) * 1000,
    maxBodyBytes: MAX_BODY_BYTES,
  };
}

import { once } from 'node:events';
import { createMemorySessionStore } from '../adapters/memory/memory-session-store.ts';
import { createSqliteSessionStore } from '../adapters/sqlite/sessions/sqlite-session-store.ts';
import { OFFLINE_MODEL } from '../domain/agent-config.ts';
import { AppError } from '../domain/app-error.ts';
import { redactKeys } from '../domain/redact-keys.ts';
import { pageDirectory } from '../page-directory.ts';
import type { ChunkStore } from '../ports/chunk-store.ts';
import type { Embedder } from '../ports/embedder.ts';
import type { SessionStore } from '../ports/session-store.ts';
import { type AgentServer, createAgentServer } from '../serve/create-agent-server.ts';
import type { EndedRequest } from '../serve/http/create-http-app.ts';
import { listen } from '../serve/http/listen.ts';
import { readPageFiles } from '../serve/page/page-files.ts';
import { rememberVectors } from '../serve/remember-vectors.ts';
import { createServedCollections, type ServedCollections } from '../serve/served-collections.ts';
import { systemRuntime } from '../system-runtime.ts';
import { version } from '../version.ts';
import { type App, sessionsPath } from '../wire.ts';
import { wireAgent } from '../wire-agent.ts';
import { settingsOf } from './chat/agent-settings.ts';
import { openCollection } from './open-collection.ts';
import { checkedPort } from './run-serve-model.ts';
import { SERVE_DEFAULTS, type ServeFlags } from './serve.ts';
import { isLoopback, tokenOf } from './serve-token.ts';
import { createTerminal } from './terminal.ts';
import { withApp } from './with-app.ts';

const MAX_BODY_BYTES = 2_000_000;
/** For responses to be written out after the last turn has ended. */
const CLOSE_MS = 2_000;
/** Sentences whose vectors are kept: 13 MB of them. */
const REMEMBERED_SENTENCES = 8192;

/** Serves until Ctrl-C; then lets running turns finish for a while. */
export function runServe(flags: ServeFlags): Promise<void> {
  const { host = SERVE_DEFAULTS.host } = flags;
  const port = checkedPort(flags.port ?? SERVE_DEFAULTS.port);
  const graceMs = wholeNumber('--grace', flags.grace ?? SERVE_DEFAULTS.grace, 0) * 1000;
  const token = tokenOf(flags, host);
  return withApp(settingsOf(flags), async (opened, signal) => {
    const app = rememberingSentences(opened);
    const limits = limitsOf(flags, app.config.agent.model === OFFLINE_MODEL);
    // The embedder is loaded in a thread of its own meanwhile.
    if (flags.mode !== 'lexical') app.embedder().catch(() => {});
    const sessions = createSqliteSessionStore(sessionsPath(app.config));
    const passing = createMemorySessionStore();
    const collections = await serveCollections(app, signal, { flags, sessions, passing });
    try {
      const server = createAgentServer({
        collections,
        sessions,
        passing,
        runtime: systemRuntime,
        model: app.config.agent.model,
        policy: app.config.agent.policy,
        version,
        page: await readPageFiles(pageDirectory()),
        token,
        limits,
        hosts: { names: flags.allowHost ?? [], anyAddress: !isLoopback(host) },
        ...createLog(app, flags.verbose ?? false, token),
      });
      await serveUntil(signal, server, { host, port, graceMs, json: flags.json ?? false });
    } finally {
      await collections.close();
      await sessions.close();
    }
  });
}

/** The offline model compares a question with the same sentences for everybody who asks. */
function rememberingSentences(app: App): App {
  let remembering: Promise<Embedder> | undefined;
  const embedder = () => {
    remembering ??= app.embedder().then((each) => rememberVectors(each, REMEMBERED_SENTENCES));
    return remembering;
  };
  return { ...app, embedder };
}

async function serveUntil(
  signal: AbortSignal,
  server: AgentServer,
  { host, port, graceMs, json }: { host: string; port: number; graceMs: number; json: boolean },
): Promise<void> {
  const listening = await listen(server.fetch, { host, port });
  const { url } = listening;
  if (json) process.stdout.write(`${JSON.stringify({ url, port: listening.port })}\n`);
  else process.stdout.write(`Serving on ${url} until Ctrl-C; the OpenAI API is at ${url}/v1.\n`);
  if (!signal.aborted) await once(signal, 'abort');
  const closed = listening.close(graceMs + CLOSE_MS);
  await server.drain(graceMs);
  await closed;
}

/** The configured collection is opened now, so that what is wrong with it is told at once; others when asked for. */
async function serveCollections(
  app: App,
  signal: AbortSignal,
  { flags, sessions, passing }: { flags: ServeFlags; sessions: SessionStore; passing: SessionStore },
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
    createAgents: async (store) => ({
      agent: await wireAgent(app, { ...options, store, sessions }),
      passingAgent: await wireAgent(app, { ...options, store, sessions: passing }),
    }),
  });
  await collections.open();
  return collections;
}

function createLog(app: App, verbose: boolean, token: string | undefined) {
  const terminal = createTerminal(process.stderr);
  const keys = Object.values(app.config.secrets).flatMap((secret) => secret?.reveal() ?? []);
  const write = (line: string) => {
    const withoutToken = token === undefined ? line : line.replaceAll(token, '[token]');
    terminal.write(`${terminal.text(keys.reduce(redactKeys, withoutToken))}\n`);
  };
  return {
    onDefect: (message: string) => write(`A request failed: ${message}`),
    ...(verbose && {
      onRequest: ({ method, path, status, ms }: EndedRequest) =>
        write(`${new Date().toISOString()} ${method} ${path} ${status} ${Math.round(ms)} ms`),
    }),
  };
}

function limitsOf({ concurrency, queue, turnTimeout }: ServeFlags, offline: boolean) {
  const usual = offline ? SERVE_DEFAULTS.offlineConcurrency : SERVE_DEFAULTS.concurrency;
  return {
    concurrent: wholeNumber('--concurrency', concurrency ?? usual, 1),
    waiting: wholeNumber('--queue', queue ?? SERVE_DEFAULTS.queue, 0),
    turnMs: wholeNumber('--turn-timeout', turnTimeout ?? SERVE_DEFAULTS.turnTimeout, 1) * 1000,
    maxBodyBytes: MAX_BODY_BYTES,
  };
}

function wholeNumber(flag: string, value: number, least: number): number {
  if (Number.isSafeInteger(value) && value >= least && value <= 1_000_000) return value;
  throw new AppError('invalid_input', `${flag} must be a whole number, at least ${least}.`);
}

import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Model } from '@openai/agents';
import OpenAI from 'openai';
import { onTestFinished } from 'vitest';
import { createOfflineModel } from '../../src/adapters/offline/offline-model.ts';
import { createSqliteSessionStore } from '../../src/adapters/sqlite/sqlite-session-store.ts';
import { systemRuntime } from '../../src/app/system-runtime.ts';
import type { AgentConfig } from '../../src/domain/agent-config.ts';
import type { ServedEvent } from '../../src/server/api/ask-route.ts';
import { type AgentServerOptions, createAgentServer } from '../../src/server/create-agent-server.ts';
import { listen } from '../../src/server/http/listen.ts';
import { createServedCollections } from '../../src/server/turns/served-collections.ts';
import { createSmallLibrary, type SmallLibrary } from '../support/small-library.ts';
import { createTemporaryDirectory } from '../support/temporary-directory.ts';
import { createTestAgent } from '../support/test-agent.ts';

export const BOOK = {
  'animals/Zebras': 'A zebra is a striped horse. Zebras live in Africa. They eat 40 kilograms of grass.',
  'animals/Owls': 'An owl hunts at night. Owls see well in the dark.',
  'plants/Oaks': 'An oak is a tall tree. Oaks live for 600 years.',
};

export interface TestServerOptions extends Partial<Omit<AgentServerOptions, 'limits'>> {
  model?: never;
  chatModel?: Model;
  config?: Partial<AgentConfig>;
  limits?: Partial<AgentServerOptions['limits']>;
  /** Collections by name; the first is the default. */
  libraries?: Record<string, Record<string, string>>;
}

/** Starts the real server on a free port with small collections, a session file and the given model. */
export async function startAgentServer(options: TestServerOptions = {}) {
  const { chatModel, config, limits, libraries = { animals: BOOK }, ...others } = options;
  const opened = new Map<string, SmallLibrary>();
  for (const [name, documents] of Object.entries(libraries)) {
    const library = await createSmallLibrary(documents);
    opened.set(name, { ...library, store: { ...library.store, name, close: async () => {} } });
  }
  const sessions = createSqliteSessionStore(join(await createTemporaryDirectory(), 'sessions.sqlite'));
  const collections = createServedCollections({
    defaultName: Object.keys(libraries)[0] ?? '',
    list: async () => [...opened.keys()],
    openStore: async (name) => opened.get(name)?.store ?? null,
    async createAgent({ name }) {
      const library = opened.get(name) as SmallLibrary;
      return createTestAgent(library, chatModel ?? createOfflineModel({ newId: randomUUID }), {
        sessions,
        ...(config && { config }),
      });
    },
  });
  const server = createAgentServer({
    collections,
    sessions,
    runtime: systemRuntime,
    policy: 'tool',
    version: '0.0.0',
    page: new Map(),
    hosts: { names: [], anyAddress: false },
    ...others,
    model: 'scripted',
    limits: { concurrent: 4, waiting: 8, turnMs: 120_000, maxBodyBytes: 100_000, ...limits },
  });
  const listening = await listen(server.fetch, { host: '127.0.0.1', port: 0 });
  onTestFinished(async () => {
    await server.drain(0);
    await listening.close(0);
    await sessions.close();
  });

  const { url } = listening;
  const headers = { ...(options.token && { authorization: `Bearer ${options.token}` }) };
  return {
    url,
    server,
    sessions,
    library: [...opened.values()][0] as SmallLibrary,
    client: new OpenAI({ apiKey: options.token ?? 'none', baseURL: `${url}/v1`, maxRetries: 0 }),
    get: (path: string, init: RequestInit = {}) =>
      fetch(`${url}${path}`, { ...init, headers: { ...headers, ...init.headers } }),
    post: (path: string, body: unknown = {}, init: RequestInit = {}) =>
      fetch(`${url}${path}`, {
        method: 'POST',
        body: JSON.stringify(body),
        ...init,
        headers: { 'content-type': 'application/json', ...headers, ...init.headers },
      }),
  };
}

/** The events of an NDJSON response. */
export async function eventsOf(response: Response): Promise<ServedEvent[]> {
  return (await response.text())
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

/** The JSON body of a response, not validated. */
export async function jsonOf<T>(response: Promise<Response>): Promise<T> {
  return (await (await response).json()) as T;
}

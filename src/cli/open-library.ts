import { createSqliteSessionStore } from '../adapters/sqlite/sessions/sqlite-session-store.ts';
import type { SearchMode } from '../domain/search-mode.ts';
import type { Library } from '../mcp/library.ts';
import { type App, sessionsPath } from '../wire.ts';
import { assertKnownModules } from './known-modules.ts';
import { openCollection } from './open-collection.ts';

/** What is shorter is a placeholder, and might be part of any word. */
const LEAST_SECRET = 4;

export interface LibraryOptions {
  mode?: SearchMode | undefined;
  tools?: readonly string[] | undefined;
  /** What else must not be shown, besides the keys of services. */
  token?: string | undefined;
}

/** The configured collection and agent, for a server that must answer its client before they are open. */
export function openLibrary(
  app: App,
  signal: AbortSignal,
  { mode = 'hybrid', tools, token }: LibraryOptions,
): Library & { close(): Promise<void> } {
  const { topK, model } = app.config.agent;
  const secrets = [token, ...Object.values(app.config.secrets).map((secret) => secret?.reveal())]
    .filter((secret) => secret !== undefined)
    .filter((secret) => secret.length >= LEAST_SECRET);
  const store = untilItWorks(() => openCollection(app, signal));
  const sessions = createSqliteSessionStore(sessionsPath(app.config));
  const collection = untilItWorks(async () => ({
    store: await store.get(),
    retriever: await app.retriever(await store.get(), { mode }),
    topK,
  }));
  const agent = untilItWorks(async () => {
    const { wireAgent } = await import('../wire-agent.ts');
    const readSource = tools?.includes('read_source');
    return wireAgent(app, { store: await store.get(), sessions, mode, readSource });
  });
  return {
    model,
    collection: collection.get,
    agent: agent.get,
    async moduleFilter(module) {
      if (module == null) return {};
      await assertKnownModules(await store.get(), [module]);
      return { module: [module] };
    },
    withoutSecrets: (text) =>
      secrets.reduce((cleaned, secret) => cleaned.replaceAll(secret, '[secret]'), text),
    async close() {
      await (await agent.got())?.close();
      await sessions.close();
      await (await store.got())?.close();
    },
  };
}

/** Opens on first use and keeps what was opened; a failure is forgotten, so that the next use tries again. */
function untilItWorks<T>(open: () => Promise<T>) {
  let opening: Promise<T> | undefined;
  return {
    get(): Promise<T> {
      opening ??= open().catch((error: unknown) => {
        opening = undefined;
        throw error;
      });
      return opening;
    },
    /** What was opened, if anything was. */
    got: async () => opening?.catch(() => undefined),
  };
}

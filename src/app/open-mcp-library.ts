import { createRetryablePromise } from '../async/retryable-promise.ts';
import type { SearchMode } from '../domain/setting-choices.ts';
import { redactShownText } from '../faults/redactor.ts';
import type { McpLibrary } from '../server/mcp/mcp-library.ts';
import type { App } from './create-app.ts';
import { assertKnownFilter, openCollection } from './open-collection.ts';
import { configuredSecrets } from './run-settings.ts';

interface LibraryOptions {
  mode?: SearchMode | undefined;
  /** Redacted from messages, like the keys of services. */
  token?: string | undefined;
}

/** The configured collection and agent for an MCP server, opened on first use. */
export function openMcpLibrary(
  app: App,
  signal: AbortSignal,
  { mode = 'hybrid', token }: LibraryOptions,
): McpLibrary & { close(): Promise<void> } {
  const { model } = app.config.agent;
  const { searchTopK: topK } = app.config;
  const secrets = [token, ...configuredSecrets(app.config)];
  const store = createRetryablePromise(() => openCollection(app, signal));
  const sessions = createRetryablePromise(app.sessions);
  const collection = createRetryablePromise(async () => ({
    store: await store.get(),
    retriever: await app.retriever(await store.get(), { mode }),
    topK,
  }));
  const agent = createRetryablePromise(async () => {
    const { createCollectionAgent } = await import('./open-agent.ts');
    return createCollectionAgent(app, {
      store: await store.get(),
      sessions: await sessions.get(),
      mode,
    });
  });
  return {
    model,
    collection: collection.get,
    agent: agent.get,
    async moduleFilter(module) {
      if (module == null) return {};
      await assertKnownFilter(await store.get(), { module: [module] });
      return { module: [module] };
    },
    withoutSecrets: (text) => redactShownText(text, secrets),
    async close() {
      await (await sessions.current())?.close();
      await (await store.current())?.close();
    },
  };
}

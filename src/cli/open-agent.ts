import { createSqliteSessionStore } from '../adapters/sqlite/sessions/sqlite-session-store.ts';
import { type App, sessionsPath } from '../wire.ts';
import { assertModelUsable, wireAgent } from '../wire-agent.ts';
import type { OpenAgentOptions, OpenedAgent } from './chat/opened-agent.ts';
import { assertKnownModules } from './known-modules.ts';
import { openCollection } from './open-collection.ts';

/** The agent on the collection that is configured, or on the sample book. */
export async function openAgent(
  app: App,
  signal: AbortSignal,
  options: OpenAgentOptions = {},
): Promise<OpenedAgent> {
  const config =
    options.model === undefined
      ? app.config
      : { ...app.config, agent: { ...app.config.agent, model: options.model } };
  // A missing key is told before anything is indexed.
  assertModelUsable({ ...app, config });
  const store = await openCollection(app, signal);
  const sessions = createSqliteSessionStore(sessionsPath(config));
  const closeStores = async () => {
    await sessions.close();
    await store.close();
  };
  const agent = await assertKnownModules(store, options.filter?.module ?? [])
    .then(() =>
      wireAgent(
        { ...app, config },
        { store, sessions, mode: options.mode, readSource: options.tools?.includes('read_source') },
      ),
    )
    .catch(async (error: unknown) => {
      await closeStores();
      throw error;
    });
  return {
    agent,
    sessions,
    collection: store.name,
    model: config.agent.model,
    async close() {
      await agent.close();
      await closeStores();
    },
  };
}

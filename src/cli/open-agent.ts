import { createSqliteSessionStore } from '../adapters/sqlite/sessions/sqlite-session-store.ts';
import type { Config } from '../config/load-config.ts';
import type { SessionStore } from '../ports/session-store.ts';
import { type App, sessionsPath } from '../wire.ts';
import { assertModelUsable, wireAgent } from '../wire-agent.ts';
import type { OpenAgentOptions, OpenedAgent } from './chat/opened-agent.ts';
import { assertKnownModules } from './known-modules.ts';
import { openCollection } from './open-collection.ts';
import type { TapeRun } from './tape/tape-run.ts';

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
  const { tape = null } = options;
  // A missing key is told before anything is indexed.
  assertModelUsable({ ...app, config });
  const store = await openCollection(app, signal, tape);
  const sessions = await sessionsOf(config, tape);
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
    agent: tape?.observed(agent) ?? agent,
    sessions,
    collection: store.name,
    model: config.agent.model,
    async close() {
      await agent.close();
      await closeStores();
    },
  };
}

/** A replay leaves the conversations of the user alone. */
async function sessionsOf(config: Config, tape: TapeRun | null): Promise<SessionStore> {
  if (tape?.replaying) {
    const { createReplaySessionStore } = await import('./tape/replay-session-store.ts');
    return createReplaySessionStore(tape.recorded?.resumed ?? null);
  }
  const sessions = createSqliteSessionStore(sessionsPath(config));
  return tape?.noted(sessions) ?? sessions;
}

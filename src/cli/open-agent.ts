import { createSqliteSessionStore } from '../adapters/sqlite/sessions/sqlite-session-store.ts';
import type { Config } from '../config/load-config.ts';
import type { ChunkStore } from '../ports/chunk-store.ts';
import type { SessionStore } from '../ports/session-store.ts';
import { type App, sessionsPath } from '../wire.ts';
import { assertModelUsable, wireAgent } from '../wire-agent.ts';
import type { OpenAgentOptions, OpenedAgent } from './chat/opened-agent.ts';
import { assertKnownModules } from './known-modules.ts';
import { openCollection } from './open-collection.ts';
import { resolveSessionId } from './resolve-session.ts';
import type { TapeRun } from './tape/tape-run.ts';

/** The agent on the collection that is configured, or on the sample book. */
export async function openAgent(
  app: App,
  signal: AbortSignal,
  options: OpenAgentOptions = {},
): Promise<OpenedAgent> {
  const { tape = null, model = app.config.agent.model } = options;
  const sessions = await sessionsOf(app.config, tape);
  let store: ChunkStore | undefined;
  const closeStores = async () => {
    await sessions.close();
    await store?.close();
  };
  try {
    const collection = await collectionOf(options.session, sessions, app);
    const config = {
      ...app.config,
      collectionChosen: app.config.collectionChosen || options.session !== undefined,
      agent: { ...app.config.agent, model, collection },
    };
    // A missing key is told before anything is indexed.
    assertModelUsable({ ...app, config });
    store = await openCollection({ ...app, config }, signal, tape);
    await assertKnownModules(store, options.filter?.module ?? []);
    const readSource = options.tools?.includes('read_source');
    const agent = await wireAgent({ ...app, config }, { store, sessions, mode: options.mode, readSource });
    return {
      agent: tape?.observed(agent) ?? agent,
      sessions,
      collection: store.name,
      model,
      async close() {
        await agent.close();
        await closeStores();
      },
    };
  } catch (error) {
    await closeStores();
    throw error;
  }
}

/** A session goes on about what it was about, unless a collection is named. */
async function collectionOf(
  session: string | undefined,
  sessions: SessionStore,
  { config }: App,
): Promise<string> {
  if (session === undefined || config.collectionChosen) return config.agent.collection;
  const found = await sessions.load(await resolveSessionId(sessions, session));
  return found?.session.collection ?? config.agent.collection;
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

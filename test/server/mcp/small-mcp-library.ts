import type { Model } from '@openai/agents';
import { createOfflineModel } from '../../../src/adapters/offline/offline-model.ts';
import { createMemorySessionStore } from '../../../src/adapters/sqlite/sqlite-session-store.ts';
import { AppError } from '../../../src/faults/app-error.ts';
import type { SessionStore } from '../../../src/ports/session-store.ts';
import type { McpLibrary } from '../../../src/server/mcp/mcp-library.ts';
import { createSmallLibrary, type SmallLibrary } from '../../support/small-library.ts';
import { createTestAgent } from '../../support/test-agent.ts';

export interface SmallMcpLibrary {
  library: McpLibrary;
  small: SmallLibrary;
  sessions: SessionStore;
}

/** A small library for an MCP server, with the offline or the given model. */
export async function mcpLibrary(
  documents: Record<string, string>,
  { model, secret = 'none-at-all' }: { model?: Model; secret?: string } = {},
): Promise<SmallMcpLibrary> {
  const small = await createSmallLibrary(documents);
  const sessions = createMemorySessionStore();
  let nextId = 0;
  const offline = createOfflineModel({
    newId: () => String(nextId++),
  });
  const agent = createTestAgent(small, model ?? offline, { sessions, config: { model: 'offline' } });
  const library: McpLibrary = {
    model: 'offline',
    collection: async () => ({ store: small.store, retriever: small.retriever, topK: 5 }),
    agent: async () => agent,
    async moduleFilter(module) {
      if (module == null) return {};
      if ((await small.store.count({ module: [module] })) > 0) return { module: [module] };
      throw new AppError('invalid_input', `There is no module "${module}".`);
    },
    withoutSecrets: (text) => text.replaceAll(secret, '[redacted]'),
  };
  return { library, small, sessions };
}

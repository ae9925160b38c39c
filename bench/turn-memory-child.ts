import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { createSqliteSessionStore } from '../src/adapters/sqlite/sessions/sqlite-session-store.ts';
import { createBenchAgent, takeTurn } from './bench-agent.ts';
import { startModelServer } from './model-server.ts';
import { withTemporaryDirectory } from './temporary-directory.ts';
import type { TurnMemory } from './turn-memory.ts';

/** Time for what is freed to go back to the system. */
const SETTLE_MS = 300;

/** Takes turns in one session and prints the memory after each of the numbers of turns that are given. */
const stops = process.argv.slice(2).map(Number);

await withTemporaryDirectory(async (directory) => {
  const server = await startModelServer();
  const sessions = createSqliteSessionStore(join(directory, 'sessions.sqlite'));
  const agent = await createBenchAgent(server, directory, sessions);
  const session = await agent.startSession();
  const measured: TurnMemory[] = [];
  for (let turn = 1; turn <= Math.max(...stops); turn += 1) {
    await takeTurn(session, `What does passage ${turn} say about nodes?`);
    if (stops.includes(turn)) measured.push(await settledMemory());
  }
  await agent.close();
  server.close();
  console.log(JSON.stringify(measured));
});

async function settledMemory(): Promise<TurnMemory> {
  for (let round = 0; round < 3; round += 1) {
    globalThis.gc?.();
    await setTimeout(SETTLE_MS);
  }
  const { rss, heapUsed } = process.memoryUsage();
  return { rssMb: rss / 2 ** 20, heapMb: heapUsed / 2 ** 20 };
}

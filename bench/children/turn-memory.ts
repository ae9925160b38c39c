import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { createSqliteSessionStore } from '../../src/adapters/sqlite/sqlite-session-store.ts';
import type { TurnMemory } from '../speed/turn-memory.ts';
import { createBareRunner } from '../support/bare-runner.ts';
import { createBenchAgent, takeTurn } from '../support/bench-agent.ts';
import { withTemporaryDirectory } from '../support/measure.ts';
import { startModelServer } from '../support/model-server.ts';

/** Time for freed memory to return to the system. */
const SETTLE_MS = 300;
const GC_ROUNDS = 3;

// Takes turns and prints the memory after each of the given numbers of turns.
const [variant, ...numbers] = process.argv.slice(2);
const stops = numbers.map(Number);

await withTemporaryDirectory(async (directory) => {
  const server = await startModelServer();
  const sessions = createSqliteSessionStore(join(directory, 'sessions.sqlite'));
  const agent = await createBenchAgent(server, directory, sessions);
  const session = await agent.startSession();
  const bare = await createBareRunner(server);
  const take = variant === 'bare' ? bare : (question: string) => takeTurn(session, question);
  const measured: TurnMemory[] = [];
  for (let turn = 1; turn <= Math.max(...stops); turn += 1) {
    await take(`What does passage ${turn} say about nodes?`);
    if (stops.includes(turn)) measured.push(await settledMemory());
  }
  await agent.close();
  server.close();
  console.log(JSON.stringify(measured));
});

async function settledMemory(): Promise<TurnMemory> {
  for (let round = 0; round < GC_ROUNDS; round += 1) {
    // Only a last-resort collection makes V8 release its empty pages.
    if (variant === 'ours-released') {
      globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
    } else globalThis.gc?.();
    await setTimeout(SETTLE_MS);
  }
  const { rss, heapUsed } = process.memoryUsage();
  return { rssMb: rss / 2 ** 20, heapMb: heapUsed / 2 ** 20 };
}

import { join } from 'node:path';
import { createSqliteSessionStore } from '../../src/adapters/sqlite/sqlite-session-store.ts';
import { createBenchAgent, takeTurn } from '../support/bench-agent.ts';
import { measureMs, median, withTemporaryDirectory } from '../support/measure.ts';
import { type LastRequest, startModelServer } from '../support/model-server.ts';
import { type BenchmarkRow, createRow } from '../support/results.ts';

const SESSIONS = 3;
const WARM_UP = 40;
const EARLY = { from: 15, to: 25 };
const LATE = { from: 490, to: 510 };

interface Turn extends LastRequest {
  ms: number;
}

/** Compares time and prompt size of turn 500 of a session with those of turn 20. */
export function benchLongSession(): Promise<BenchmarkRow[]> {
  return withTemporaryDirectory(async (directory) => {
    const server = await startModelServer();
    const sessions = createSqliteSessionStore(join(directory, 'sessions.sqlite'));
    const agent = await createBenchAgent(server, directory, sessions);
    try {
      // A warm-up session, so that early turns do not include compiling the code.
      await takeTurns(WARM_UP);
      const early: Turn[] = [];
      const late: Turn[] = [];
      for (let session = 0; session < SESSIONS; session += 1) {
        const turns = await takeTurns(LATE.to);
        early.push(...turns.slice(EARLY.from - 1, EARLY.to));
        late.push(...turns.slice(LATE.from - 1, LATE.to));
      }
      return rowsOf(early, late);
    } finally {
      await agent.close();
      server.close();
    }

    async function takeTurns(count: number): Promise<Turn[]> {
      const session = await agent.startSession();
      const turns: Turn[] = [];
      for (let turn = 1; turn <= count; turn += 1) {
        const ms = await measureMs(() => takeTurn(session, `What does passage ${turn} say about nodes?`));
        turns.push({ ms, ...(await server.lastRequest()) });
      }
      return turns;
    }
  });
}

function rowsOf(early: readonly Turn[], late: readonly Turn[]): BenchmarkRow[] {
  const medianOf = (turns: readonly Turn[], part: 'ms' | 'bytes' | 'messages') =>
    median(turns.map((turn) => turn[part]));
  const target = { of: 'ratio', atMost: 1.3 } as const;
  const against = (part: 'ms' | 'bytes') => medianOf(late, part) / medianOf(early, part);
  return [
    createRow(
      `long session: turns ${EARLY.from} to ${EARLY.to}, ${SESSIONS} sessions`,
      medianOf(early, 'ms'),
      'ms',
    ),
    createRow(`long session: turns ${LATE.from} to ${LATE.to}`, medianOf(late, 'ms'), 'ms', {
      ratio: against('ms'),
      target,
    }),
    createRow(
      `long session: prompt of early turns, ${medianOf(early, 'messages')} messages`,
      medianOf(early, 'bytes'),
      'bytes',
    ),
    createRow(
      `long session: prompt of late turns, ${medianOf(late, 'messages')} messages`,
      medianOf(late, 'bytes'),
      'bytes',
      {
        ratio: against('bytes'),
        target,
      },
    ),
  ];
}

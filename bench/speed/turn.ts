import { join } from 'node:path';
import {
  createMemorySessionStore,
  createSqliteSessionStore,
} from '../../src/adapters/sqlite/sqlite-session-store.ts';
import type { Agent } from '../../src/agent/agent.ts';
import { createBareRunner } from '../support/bare-runner.ts';
import { createBenchAgent, takeTurn } from '../support/bench-agent.ts';
import {
  measureInterleaved,
  measureMs,
  median,
  medianRatio,
  withTemporaryDirectory,
} from '../support/measure.ts';
import { monotonicMs, startModelServer } from '../support/model-server.ts';
import { type BenchmarkRow, createRow } from '../support/results.ts';

const WARM_UP = 40;
const ROUNDS = 150;

type Turn = (question: string, onFirstWord?: () => void) => Promise<void>;

/** Compares a streamed turn with a search with the bare Runner of the SDK on the same model server. */
export function benchTurn(): Promise<BenchmarkRow[]> {
  return withTemporaryDirectory(async (directory) => {
    const server = await startModelServer();
    const sqlite = createSqliteSessionStore(join(directory, 'sessions.sqlite'));
    const inMemory = await createBenchAgent(server, join(directory, 'a'), createMemorySessionStore());
    const inSqlite = await createBenchAgent(server, join(directory, 'b'), sqlite);
    const bare = await createBareRunner(server);
    try {
      const turns = {
        bare: () => bare,
        inMemory: createFirstTurn(inMemory),
        inSqlite: createFirstTurn(inSqlite),
      };
      const whole = (start: Start) => async (round: number) => {
        const turn = await start();
        return measureMs(() => turn(question(round)));
      };
      const firstWord = (start: Start) => async (round: number) => {
        const turn = await start();
        let receivedAtMs = Number.NaN;
        await turn(question(round), () => {
          receivedAtMs = monotonicMs();
        });
        return receivedAtMs - (await server.lastRequest()).firstWordAtMs;
      };
      await measureInterleaved(WARM_UP, measureAll(turns, whole));
      return [
        ...turnRows(await measureInterleaved(ROUNDS, measureAll(turns, whole))),
        ...firstWordRows(await measureInterleaved(ROUNDS, measureAll(turns, firstWord))),
      ];
    } finally {
      await inMemory.close();
      await inSqlite.close();
      server.close();
    }
  });
}

type Start = () => Turn | Promise<Turn>;
type Variant = 'bare' | 'inMemory' | 'inSqlite';

/** The first turn of a new session; starting the session is not measured. */
function createFirstTurn(agent: Agent): Start {
  return async () => {
    const session = await agent.startSession();
    return (asked, onFirstWord) => takeTurn(session, asked, onFirstWord);
  };
}

function question(round: number): string {
  return `How do two nodes exchange messages, and what is number ${round} about?`;
}

function measureAll<T>(turns: Record<Variant, Start>, measure: (start: Start) => T): Record<Variant, T> {
  return {
    bare: measure(turns.bare),
    inMemory: measure(turns.inMemory),
    inSqlite: measure(turns.inSqlite),
  };
}

function turnRows({ bare, inMemory, inSqlite }: Record<Variant, number[]>): BenchmarkRow[] {
  return [
    createRow(`turn: bare SDK Runner, ${ROUNDS} turns`, median(bare), 'ms'),
    createRow('turn: ours, sessions in memory', median(inMemory), 'ms', {
      ratio: medianRatio(inMemory, bare),
      target: { of: 'ratio', atMost: 1.1 },
    }),
    createRow('turn: ours, sessions in SQLite', median(inSqlite), 'ms', {
      ratio: medianRatio(inSqlite, bare),
      target: { of: 'ratio', atMost: 1.2 },
    }),
  ];
}

function firstWordRows({ bare, inMemory, inSqlite }: Record<Variant, number[]>): BenchmarkRow[] {
  const target = { of: 'value', atMost: 15 } as const;
  const delays = inSqlite.map((ms, round) => ms - (bare[round] ?? Number.NaN));
  return [
    createRow('turn: first word after the model sent it, bare SDK Runner', median(bare), 'ms'),
    createRow('turn: first word after the model sent it, sessions in memory', median(inMemory), 'ms', {
      target,
    }),
    createRow('turn: first word after the model sent it, sessions in SQLite', median(inSqlite), 'ms', {
      target,
    }),
    createRow('turn: delay of the first word, compared with the bare SDK Runner', median(delays), 'ms', {
      target,
    }),
  ];
}

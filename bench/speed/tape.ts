import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createMemorySessionStore } from '../../src/adapters/sqlite/sqlite-session-store.ts';
import { createRedactor } from '../../src/faults/redactor.ts';
import { createExchangeFinder } from '../../src/tape/exchange-finder.ts';
import { readTape } from '../../src/tape/read-tape.ts';
import { startTapeRecording } from '../../src/tape/record-run.ts';
import { startTapeReplay } from '../../src/tape/replay-tape.ts';
import type { TapeHeader, TapeRequest } from '../../src/tape/tape-format.ts';
import { createReplayResponse } from '../../src/tape/tape-http.ts';
import { createTapeWriter } from '../../src/tape/tape-writer.ts';
import { createBenchAgent, takeTurn } from '../support/bench-agent.ts';
import { measureInterleaved, measureMs, median, withTemporaryDirectory } from '../support/measure.ts';
import { type ModelServer, startModelServer } from '../support/model-server.ts';
import { type BenchmarkRow, createRow } from '../support/results.ts';

const TURNS = 1000;
const WARM_UP = 50;
const LOOKUPS = 2000;

/** Compares replayed turns with a stub of the same answers, opens a large tape, and looks up requests. */
export function benchTape(): Promise<BenchmarkRow[]> {
  return withTemporaryDirectory(async (directory) => [
    ...(await replayRows(directory)),
    ...(await readRows(directory)),
    ...(await lookUpRows(directory)),
  ]);
}

async function replayRows(directory: string): Promise<BenchmarkRow[]> {
  const server = await startModelServer();
  const path = join(directory, 'turns.tape.json');
  const turns = WARM_UP + TURNS;
  try {
    await recordTurns(server, path, directory, turns);
    const live = globalThis.fetch;
    const stub = createStubFetch(path);
    const replaying = await startTapeReplay({ path });
    const taped = globalThis.fetch;
    const turnWith = await createTurnTakers(server, directory);
    const [byTape, byStub] = [await turnWith('tape', taped), await turnWith('stub', stub)];
    const variants = {
      tape: (round: number) => measureMs(() => byTape(round)),
      stub: (round: number) => measureMs(() => byStub(round)),
    };
    await measureInterleaved(WARM_UP, variants);
    const measured = await measureInterleaved(TURNS, {
      tape: (round) => variants.tape(round + WARM_UP),
      stub: (round) => variants.stub(round + WARM_UP),
    });
    globalThis.fetch = taped;
    await replaying.stop();
    globalThis.fetch = live;
    const total = (values: readonly number[]) => values.reduce((sum, ms) => sum + ms, 0);
    return [
      createRow(
        `tape: ${TURNS} turns against an in-process stub, without msw`,
        total(measured.stub) / 1000,
        's',
      ),
      createRow(`tape: the same ${TURNS} turns replayed`, total(measured.tape) / 1000, 's', {
        ratio: total(measured.tape) / total(measured.stub),
        target: { of: 'ratio', atMost: 1.3 },
      }),
    ];
  } finally {
    server.close();
  }
}

/** Each variant has a separate agent, so that its retriever starts at the same position as in the recording. */
async function createTurnTakers(server: ModelServer, directory: string) {
  return async (name: string, fetch: typeof globalThis.fetch) => {
    const agent = await createBenchAgent(server, join(directory, name), createMemorySessionStore());
    return async (round: number) => {
      globalThis.fetch = fetch;
      await takeTurn(await agent.startSession(), question(round));
    };
  };
}

async function recordTurns(
  server: ModelServer,
  path: string,
  directory: string,
  turns: number,
): Promise<void> {
  const agent = await createBenchAgent(server, join(directory, 'recorded'), createMemorySessionStore());
  const recording = startTapeRecording({
    path,
    header: createTapeHeader(),
    secrets: ['sk-bench-not-a-real-key'],
  });
  for (let round = 0; round < turns; round += 1) await takeTurn(await agent.startSession(), question(round));
  await recording.close(null);
  await agent.close();
}

/** Returns the recorded answers in order, whatever the request. */
function createStubFetch(path: string): typeof globalThis.fetch {
  const tape = readTape(path);
  const answers = tape.exchanges;
  let next = 0;
  return async () => {
    const answer = answers[next % answers.length];
    next += 1;
    if (answer === undefined) throw new Error('The tape is empty.');
    return createReplayResponse(answer, 'none', null);
  };
}

function question(round: number): string {
  return `How do two nodes exchange messages, and what is number ${round} about?`;
}

async function readRows(directory: string): Promise<BenchmarkRow[]> {
  const path = join(directory, 'large.tape.json');
  await writeLongTape(path, { exchanges: 2_500, bytes: 20_000 });
  const child = fileURLToPath(new URL('../children/read-tape.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [child, path]);
  const { ms, rssMb } = JSON.parse(stdout) as { ms: number; rssMb: number };
  return [
    createRow('tape: read a tape of 50 MB', ms, 'ms'),
    createRow('tape: peak memory of reading 50 MB', rssMb, 'MB'),
  ];
}

async function lookUpRows(directory: string): Promise<BenchmarkRow[]> {
  const perLookUp: number[] = [];
  for (const exchanges of [1_000, 50_000]) {
    const path = join(directory, `${exchanges}.tape.json`);
    await writeLongTape(path, { exchanges, bytes: 200 });
    const tape = readTape(path);
    const finder = createExchangeFinder(tape, createRedactor());
    const times: number[] = [];
    for (let round = 0; round < LOOKUPS; round += 1) {
      const request = createTapeRequest((round * 7919) % exchanges, 100);
      const started = performance.now();
      if (finder.find(request) === null) throw new Error('A recorded request was not found.');
      times.push(performance.now() - started);
    }
    perLookUp.push(median(times) * 1000);
  }
  const [few = Number.NaN, many = Number.NaN] = perLookUp;
  return [
    createRow('tape: look up a request in 1,000 exchanges', few, 'us'),
    createRow('tape: look up a request in 50,000 exchanges', many, 'us', {
      ratio: many / few,
      target: { of: 'ratio', atMost: 1.5 },
    }),
  ];
}

export function createTapeHeader(): TapeHeader {
  return {
    version: 1,
    origin: 'recorded',
    madeBy: { program: 'citeloop bench', version: '0.0.0', node: process.version },
    createdAt: '2026-01-01T00:00:00.000Z',
    seed: 'bench',
    model: null,
    command: null,
    inputs: {},
    redact: [],
  };
}

/** Writes a tape with exchanges of about `bytes` each. */
export async function writeLongTape(
  path: string,
  { exchanges, bytes }: { exchanges: number; bytes: number },
): Promise<void> {
  const writer = createTapeWriter({ path, header: createTapeHeader(), redactor: createRedactor() });
  for (let number = 0; number < exchanges; number += 1) {
    writer.append({
      id: number + 1,
      startedAtMs: number,
      durationMs: 1,
      request: createTapeRequest(number, bytes / 2),
      response: { status: 200, headers: {}, body: { json: { answer: 'word '.repeat(bytes / 10) } } },
    });
  }
  await writer.close(null);
}

export function createTapeRequest(number: number, bytes: number): TapeRequest {
  const content = `Question ${number}: ${'word '.repeat(bytes / 5)}`;
  return {
    method: 'POST',
    url: 'https://bench.test/v1/chat/completions',
    headers: {},
    body: { json: { model: 'm', messages: [{ role: 'user', content }] } },
  };
}

import { join } from 'node:path';
import { createMemorySessionStore } from '../../src/adapters/memory/memory-session-store.ts';
import { createMiniLmEmbedder } from '../../src/adapters/onnx/minilm-embedder.ts';
import type { Agent } from '../../src/agent/agent.ts';
import { createJudge } from '../../src/judge/answer-judge.ts';
import { createBenchAgent } from '../support/bench-agent.ts';
import { findProgramWeights } from '../support/load-embedder.ts';
import { measureInterleaved, median, percentile, withTemporaryDirectory } from '../support/measure.ts';
import { monotonicMs, startModelServer } from '../support/model-server.ts';
import { type BenchmarkRow, createRow } from '../support/results.ts';

const ROUNDS = 20;
const ANSWER_MS = 2000;

/** Measures the time that the judge adds to a turn of two seconds, compared with a check by words alone. */
export function benchCheck(): Promise<BenchmarkRow[]> {
  return withTemporaryDirectory(async (directory) => {
    const server = await startModelServer(ANSWER_MS);
    const embedder = await createMiniLmEmbedder({ location: findProgramWeights() });
    const judge = createJudge(embedder);
    const agents = {
      judged: await createBenchAgent(
        server,
        join(directory, 'a'),
        createMemorySessionStore(),
        async () => judge,
      ),
      byWords: await createBenchAgent(server, join(directory, 'b'), createMemorySessionStore()),
    };
    const firstWords: Record<keyof typeof agents, number[]> = { judged: [], byWords: [] };
    const cpuTimes: Record<keyof typeof agents, number[]> = { judged: [], byWords: [] };
    /** Returns the time from the last word to the end of the turn. */
    const measure = (name: keyof typeof agents) => async (round: number) => {
      const { firstWordAtMs, lastWordAtMs, endAtMs, cpuMs } = await measureTurn(agents[name], round);
      cpuTimes[name].push(cpuMs);
      firstWords[name].push(firstWordAtMs - (await server.lastRequest()).firstWordAtMs);
      return endAtMs - lastWordAtMs;
    };
    try {
      for (const agent of Object.values(agents)) await measureTurn(agent, -1);
      const { judged, byWords } = await measureInterleaved(ROUNDS, {
        judged: measure('judged'),
        byWords: measure('byWords'),
      });
      const added = judged.map((ms, round) => ms - (byWords[round] ?? Number.NaN));
      const addedCpu = cpuTimes.judged.map((ms, round) => ms - (cpuTimes.byWords[round] ?? Number.NaN));
      const later = firstWords.judged.map((ms, round) => ms - (firstWords.byWords[round] ?? Number.NaN));
      return [
        createRow(`check: last word to end of turn, by words alone, ${ROUNDS} turns`, median(byWords), 'ms'),
        createRow('check: last word to end of turn, by the judge', median(judged), 'ms'),
        createRow('check: time added by the judge', median(added), 'ms', {
          target: { of: 'value', atMost: 30 },
        }),
        createRow('check: time added by the judge, p95', percentile(added, 0.95), 'ms'),
        // On a busy machine, CPU time is more reliable.
        createRow('check: CPU time added by the judge after the last word', median(addedCpu), 'ms'),
        createRow('check: delay of the first word by the judge', median(later), 'ms', {
          target: { of: 'value', atMost: 1 },
        }),
      ];
    } finally {
      await agents.judged.close();
      await agents.byWords.close();
      await embedder.close();
      server.close();
    }
  });
}

async function measureTurn(agent: Agent, round: number) {
  const session = await agent.startSession();
  let firstWordAtMs = Number.NaN;
  let lastWordAtMs = Number.NaN;
  let before = process.cpuUsage();
  for await (const event of session.ask(`How do two nodes exchange messages, and what is ${round} about?`)) {
    if (event.type === 'error') throw new Error(event.error.message);
    if (event.type !== 'text_delta') continue;
    lastWordAtMs = monotonicMs();
    before = process.cpuUsage();
    if (Number.isNaN(firstWordAtMs)) firstWordAtMs = lastWordAtMs;
  }
  const { user, system } = process.cpuUsage(before);
  return { firstWordAtMs, lastWordAtMs, endAtMs: monotonicMs(), cpuMs: (user + system) / 1000 };
}

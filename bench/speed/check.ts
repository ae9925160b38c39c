import { join } from 'node:path';
import { createMemorySessionStore } from '../../src/adapters/memory/memory-session-store.ts';
import { createMiniLmEmbedder } from '../../src/adapters/onnx/minilm-embedder.ts';
import type { Agent } from '../../src/agent/agent.ts';
import { createJudge } from '../../src/judge/create-judge.ts';
import { createBenchAgent } from '../support/bench-agent.ts';
import { interleaved, median, percentile, withTemporaryDirectory } from '../support/measure.ts';
import { programWeights } from '../support/minilm.ts';
import { monotonicMs, startModelServer } from '../support/model-server.ts';
import { type Row, row } from '../support/results.ts';

const ROUNDS = 20;
const ANSWER_LASTS_MS = 2000;

/** What the check of an answer adds to a generated turn of two seconds, beside the same turn checked by words alone. */
export function benchCheck(): Promise<Row[]> {
  return withTemporaryDirectory(async (directory) => {
    const server = await startModelServer(ANSWER_LASTS_MS);
    const embedder = await createMiniLmEmbedder({ location: programWeights() });
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
    const processor: Record<keyof typeof agents, number[]> = { judged: [], byWords: [] };
    /** From the last word to the end of the turn. */
    const measure = (name: keyof typeof agents) => async (round: number) => {
      const { firstWordAtMs, lastWordAtMs, endAtMs, processorMs } = await follow(agents[name], round);
      processor[name].push(processorMs);
      firstWords[name].push(firstWordAtMs - (await server.lastRequest()).firstWordAtMs);
      return endAtMs - lastWordAtMs;
    };
    try {
      for (const agent of Object.values(agents)) await follow(agent, -1);
      const { judged, byWords } = await interleaved(ROUNDS, {
        judged: measure('judged'),
        byWords: measure('byWords'),
      });
      const added = judged.map((ms, round) => ms - (byWords[round] ?? Number.NaN));
      const work = processor.judged.map((ms, round) => ms - (processor.byWords[round] ?? Number.NaN));
      const later = firstWords.judged.map((ms, round) => ms - (firstWords.byWords[round] ?? Number.NaN));
      return [
        row(
          `check: from the last word to the end of a turn, by words alone, ${ROUNDS} turns`,
          median(byWords),
          'ms',
        ),
        row('check: the same, by the judge', median(judged), 'ms'),
        row('check: what the judge adds', median(added), 'ms', { target: { of: 'value', atMost: 30 } }),
        row('check: what the judge adds, p95', percentile(added, 0.95), 'ms'),
        // On a machine that others use as well, this says more than the clock.
        row('check: what the judge adds after the last word, time of the processor', median(work), 'ms'),
        row('check: first word later than by words alone', median(later), 'ms', {
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

async function follow(agent: Agent, round: number) {
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
  return { firstWordAtMs, lastWordAtMs, endAtMs: monotonicMs(), processorMs: (user + system) / 1000 };
}

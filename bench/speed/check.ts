import { join } from 'node:path';
import { createMiniLmEmbedder } from '../../src/adapters/onnx/minilm-embedder.ts';
import { createMemorySessionStore } from '../../src/adapters/sqlite/sqlite-session-store.ts';
import type { Agent } from '../../src/agent/agent.ts';
import { createWordChecker, noChecker } from '../../src/citations/word-checker.ts';
import type { ChunkWords } from '../../src/ports/chunk-store.ts';
import type { CitationChecker } from '../../src/ports/citation-checker.ts';
import { createBenchAgent } from '../support/bench-agent.ts';
import { findProgramWeights } from '../support/load-embedder.ts';
import { measureInterleaved, median, percentile, withTemporaryDirectory } from '../support/measure.ts';
import { monotonicMs, startModelServer } from '../support/model-server.ts';
import { type BenchmarkRow, createRow } from '../support/results.ts';
import { bookPassages } from '../support/sample-book.ts';

const ROUNDS = 20;
const ANSWER_MS = 2000;

/** Measures the time from the last word to the end of a turn with five cited sentences, with and without the check. */
export function benchCheck(): Promise<BenchmarkRow[]> {
  return withTemporaryDirectory(async (directory) => {
    const server = await startModelServer(ANSWER_MS);
    const embedder = await createMiniLmEmbedder({ location: findProgramWeights() });
    const passages = await bookPassages();
    const embedded = await embedder.embedWords?.(passages.map(({ text }) => text));
    const vectors = new Map(
      passages.map(({ chunkId }, index): [string, ChunkWords] => [
        chunkId,
        { text: embedded?.[index]?.words ?? new Int8Array(), path: new Int8Array() },
      ]),
    );
    const store = {
      wordVectors: async (chunkIds: readonly string[]) =>
        new Map(chunkIds.flatMap((id) => (vectors.has(id) ? [[id, vectors.get(id) as ChunkWords]] : []))),
    };
    const open = (name: string, checker: CitationChecker) =>
      createBenchAgent(server, join(directory, name), createMemorySessionStore(), () => checker);
    const agents = {
      checked: await open('a', createWordChecker({ store, embedder: async () => embedder })),
      unchecked: await open('b', noChecker),
    };
    /** Returns the time from the last word to the end of the turn. */
    const measure = (name: keyof typeof agents) => async (round: number) => {
      const { lastWordAtMs, endAtMs } = await measureTurn(agents[name], round);
      return endAtMs - lastWordAtMs;
    };
    try {
      for (const agent of Object.values(agents)) await measureTurn(agent, -1);
      const { checked, unchecked } = await measureInterleaved(ROUNDS, {
        checked: measure('checked'),
        unchecked: measure('unchecked'),
      });
      return [
        createRow(`check: last word to end of turn, unchecked, ${ROUNDS} turns`, median(unchecked), 'ms'),
        createRow('check: last word to end of turn', median(checked), 'ms', {
          target: { of: 'value', atMost: 10 },
        }),
        createRow('check: last word to end of turn, p95', percentile(checked, 0.95), 'ms'),
      ];
    } finally {
      for (const agent of Object.values(agents)) await agent.close();
      await embedder.close();
      server.close();
    }
  });
}

async function measureTurn(agent: Agent, round: number) {
  const session = await agent.startSession();
  let lastWordAtMs = Number.NaN;
  for await (const event of session.ask(`How do two nodes exchange messages, and what is ${round} about?`)) {
    if (event.type === 'error') throw new Error(event.error.message);
    if (event.type === 'text_delta') lastWordAtMs = monotonicMs();
  }
  return { lastWordAtMs, endAtMs: monotonicMs() };
}

import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  measureInterleaved,
  measureMs,
  median,
  medianRatio,
  runNode,
  withTemporaryDirectory,
} from '../support/measure.ts';
import { type BenchmarkRow, createRow } from '../support/results.ts';

const ROUNDS = 20;
const WARM_UP = 2;
const QUESTION = 'What is ROS 2?';
const pathOf = (file: string) => fileURLToPath(new URL(file, import.meta.url));

/** Compares the process of an offline answer with a script that only loads the SDK and runs a scripted turn. */
export function benchColdAsk(): Promise<BenchmarkRow[]> {
  return withTemporaryDirectory(async (directory) => {
    const start = (args: string[], env: Record<string, string> = {}) =>
      measureMs(() => runNode(args, { cwd: directory, env }));
    const home = { CITELOOP_HOME: join(directory, 'home') };
    const variants = {
      bare: () => start([pathOf('../children/bare-turn.mjs')]),
      bareCached: () =>
        start([pathOf('../children/bare-turn.mjs')], { NODE_COMPILE_CACHE: join(directory, 'cache') }),
      ask: () => start([pathOf('../../bin/citeloop.js'), 'ask', QUESTION], home),
    };
    // The first answer indexes the sample book and fills the compile cache.
    await measureInterleaved(WARM_UP, variants);
    const { bare, bareCached, ask } = await measureInterleaved(ROUNDS, variants);
    return [
      createRow('cold ask: bare script that imports @openai/agents, one turn', median(bare), 'ms'),
      createRow('cold ask: bare script with a compile cache', median(bareCached), 'ms', {
        ratio: medianRatio(bareCached, bare),
      }),
      createRow('cold ask: citeloop ask, offline, compared with the bare script', median(ask), 'ms', {
        ratio: medianRatio(ask, bare),
        target: { of: 'ratio', atMost: 1 },
      }),
    ];
  });
}

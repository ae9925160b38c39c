import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureOnnxEngine } from '../../src/adapters/onnx/engine.ts';
import { findProgramWeights } from '../support/load-embedder.ts';
import {
  measureInterleaved,
  measureMs,
  median,
  medianRatio,
  runNode,
  withTemporaryDirectory,
} from '../support/measure.ts';
import { type BenchmarkRow, createNote, createRow } from '../support/results.ts';

const ROUNDS = 20;
const SEARCH_ROUNDS = 10;
const QUESTION = 'How do two nodes exchange messages?';
const pathOf = (file: string) => fileURLToPath(new URL(file, import.meta.url));
const PROGRAM = pathOf('../../bin/citeloop.js');

/** Measures processes of the built program, with a warm page cache and compile cache. */
export function benchStartup(): Promise<BenchmarkRow[]> {
  return withTemporaryDirectory(async (directory) => [
    ...(await benchHelp(directory)),
    ...(await benchColdSearch(directory)),
  ]);
}

async function benchHelp(directory: string): Promise<BenchmarkRow[]> {
  const start = (...args: string[]) => measureMs(() => runNode(args, { cwd: directory }));
  const variants = {
    empty: () => start(pathOf('../children/empty-script.mjs')),
    help: () => start(PROGRAM, '--help'),
    version: () => start(PROGRAM, '--version'),
  };
  await measureInterleaved(2, variants);
  const { empty, help, version } = await measureInterleaved(ROUNDS, variants);
  const overhead = (times: readonly number[]) =>
    median(times.map((time, round) => time - (empty[round] ?? 0)));
  return [
    createRow('startup: empty Node script', median(empty), 'ms'),
    createRow('startup: --help, more than the empty script', overhead(help), 'ms', {
      ratio: medianRatio(help, empty),
      target: { of: 'value', atMost: 60 },
    }),
    createRow('startup: --version, more than the empty script', overhead(version), 'ms', {
      ratio: medianRatio(version, empty),
      target: { of: 'value', atMost: 60 },
    }),
  ];
}

async function benchColdSearch(directory: string): Promise<BenchmarkRow[]> {
  const home = join(directory, 'home');
  const noModel = join(directory, 'no-model');
  await mkdir(noModel);
  const { directory: engine } = await ensureOnnxEngine(findProgramWeights());
  const weights = join(findProgramWeights().directory, 'onnx/model_quantized.onnx');
  const program = (args: string[], env: Record<string, string> = {}) =>
    runNode([PROGRAM, ...args], { cwd: directory, env: { CITELOOP_HOME: home, ...env } });
  const search = ['search', QUESTION];
  const ownCollection = ['--collection', 'own'];
  await program(['ingest', pathOf('../../fixtures/book'), ...ownCollection]);

  const variants = {
    weights: () =>
      measureMs(() =>
        runNode([pathOf('../children/only-load-weights.mjs'), engine, weights], { cwd: directory }),
      ),
    sample: () => measureMs(() => program(search)),
    own: () => measureMs(() => program([...search, ...ownCollection])),
    // Without a model this works only if none is loaded.
    lexical: () =>
      measureMs(() =>
        program([...search, ...ownCollection, '--mode', 'lexical'], { CITELOOP_MODEL_DIR: noModel }),
      ),
  };
  await measureInterleaved(1, variants);
  const times = await measureInterleaved(SEARCH_ROUNDS, variants);
  const target = { of: 'ratio', atMost: 2.5 } as const;
  const against = (name: 'sample' | 'own' | 'lexical') => medianRatio(times[name], times.weights);
  const failsWithoutModel = await program([...search, ...ownCollection], {
    CITELOOP_MODEL_DIR: noModel,
  }).then(
    () => false,
    () => true,
  );
  return [
    createRow('startup: Node script that loads the weights', median(times.weights), 'ms'),
    createRow('startup: hybrid search, sample book', median(times.sample), 'ms', {
      ratio: against('sample'),
      target,
    }),
    createRow('startup: hybrid search, own collection', median(times.own), 'ms', {
      ratio: against('own'),
      target,
    }),
    createRow('startup: lexical search', median(times.lexical), 'ms', { ratio: against('lexical') }),
    createNote('startup: lexical search works without a model, hybrid does not', failsWithoutModel),
  ];
}

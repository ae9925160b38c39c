import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureEngine } from '../../src/adapters/onnx/engine.ts';
import {
  interleaved,
  median,
  medianRatio,
  runNode,
  timed,
  withTemporaryDirectory,
} from '../support/measure.ts';
import { programWeights } from '../support/minilm.ts';
import { note, type Row, row } from '../support/results.ts';

const ROUNDS = 20;
const SEARCH_ROUNDS = 10;
const QUESTION = 'How do two nodes exchange messages?';
const pathOf = (file: string) => fileURLToPath(new URL(file, import.meta.url));
const PROGRAM = pathOf('../../bin/citeloop.js');

/** Measures processes of the built program, with a warm page cache and compile cache. */
export function benchStartup(): Promise<Row[]> {
  return withTemporaryDirectory(async (directory) => [
    ...(await benchHelp(directory)),
    ...(await benchColdSearch(directory)),
  ]);
}

async function benchHelp(directory: string): Promise<Row[]> {
  const start = (...args: string[]) => timed(() => runNode(args, { cwd: directory }));
  const variants = {
    empty: () => start(pathOf('../children/empty-script.mjs')),
    help: () => start(PROGRAM, '--help'),
    version: () => start(PROGRAM, '--version'),
  };
  await interleaved(2, variants);
  const { empty, help, version } = await interleaved(ROUNDS, variants);
  const overhead = (times: readonly number[]) =>
    median(times.map((time, round) => time - (empty[round] ?? 0)));
  return [
    row('startup: empty Node script', median(empty), 'ms'),
    row('startup: --help, more than the empty script', overhead(help), 'ms', {
      ratio: medianRatio(help, empty),
      target: { of: 'value', atMost: 60 },
    }),
    row('startup: --version, more than the empty script', overhead(version), 'ms', {
      ratio: medianRatio(version, empty),
      target: { of: 'value', atMost: 60 },
    }),
  ];
}

async function benchColdSearch(directory: string): Promise<Row[]> {
  const home = join(directory, 'home');
  const noModel = join(directory, 'no-model');
  await mkdir(noModel);
  const engine = await ensureEngine(programWeights());
  const weights = join(programWeights().directory, 'onnx/model_quantized.onnx');
  const program = (args: string[], env: Record<string, string> = {}) =>
    runNode([PROGRAM, ...args], { cwd: directory, env: { CITELOOP_HOME: home, ...env } });
  const search = ['search', QUESTION];
  const ownCollection = ['--collection', 'own'];
  await program(['ingest', pathOf('../../fixtures/book'), ...ownCollection]);

  const variants = {
    weights: () =>
      timed(() =>
        runNode([pathOf('../children/only-load-weights.mjs'), engine, weights], { cwd: directory }),
      ),
    sample: () => timed(() => program(search)),
    own: () => timed(() => program([...search, ...ownCollection])),
    // Without a model this works only if none is loaded.
    lexical: () =>
      timed(() =>
        program([...search, ...ownCollection, '--mode', 'lexical'], { CITELOOP_MODEL_DIR: noModel }),
      ),
  };
  await interleaved(1, variants);
  const times = await interleaved(SEARCH_ROUNDS, variants);
  const target = { of: 'ratio', atMost: 2.5 } as const;
  const against = (name: 'sample' | 'own' | 'lexical') => medianRatio(times[name], times.weights);
  const failsWithoutModel = await program([...search, ...ownCollection], {
    CITELOOP_MODEL_DIR: noModel,
  }).then(
    () => false,
    () => true,
  );
  return [
    row('startup: Node script that loads the weights', median(times.weights), 'ms'),
    row('startup: hybrid search, sample book', median(times.sample), 'ms', {
      ratio: against('sample'),
      target,
    }),
    row('startup: hybrid search, own collection', median(times.own), 'ms', { ratio: against('own'), target }),
    row('startup: lexical search', median(times.lexical), 'ms', { ratio: against('lexical') }),
    note('startup: lexical search works without a model, hybrid does not', failsWithoutModel),
  ];
}

import {
  cpSync,
  existsSync,
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { createVitest, type Vitest } from 'vitest/node';
import { findMutants, type Mutant, withMutants } from './find-mutants.ts';

// Mutation test: changes the core in small ways, one at a time, and checks that a test fails:
//   npm run mutate -- [folders or files] [--sample 200] [--seed 1] [--jobs 2] [--tests <pattern of paths>]
// Works on a copy of the tree and does not check types. Each mutant runs with the tests that reach it in a run without
// mutants. Tests of the built program, of servers and in browsers are excluded: they are slow or run unmutated code.

const FOLDERS = [
  'src/citations',
  'src/tape',
  'src/evaluation/statistics',
  'src/domain/token-budget.ts',
  'src/adapters/openai/wire',
  'src/agent/guards',
];
const COPIED = [
  'src',
  'test',
  'fixtures',
  'bin',
  'docs',
  'README.md',
  'bench',
  'examples',
  'package.json',
  'tsconfig.json',
  '.env.example',
  'scripts',
];
/** Test files that import one of these start programs, servers or browsers. */
const EXCLUDED = /test\/support\/(run-cli|qdrant-server|browser)\.ts$/;
/** Added to four times the duration without a mutant. */
const TIMEOUT_MS = 30_000;
/** Stops a mutant that allocates endlessly. */
const MAX_BYTES = 3_000_000_000;

interface SampledMutant extends Mutant {
  id: number;
  folder: string;
  file: string;
  line: number;
  change: string;
  /** Why no test can detect it; null if one can. */
  equivalent: string | null;
}

interface Equivalent {
  file: string;
  /** The source line and the change, as printed. */
  line: string;
  change: string;
  why: string;
}

type Outcome = 'caught' | 'survived' | 'not reached' | 'equivalent';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sample: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    tests: { type: 'string', default: '' },
    jobs: { type: 'string', default: String(Math.min(4, availableParallelism())) },
  },
});
const root = resolve(import.meta.dirname, '../..');
const folders = positionals.length > 0 ? positionals : FOLDERS;
const sample = sampleMutants(allMutants(), Number(values.sample), Number(values.seed));
const scratch = mkdtempSync(join(tmpdir(), 'citeloop-mutate-'));
try {
  writeMutants(sample);
  const outcomes = await runMutants(sample);
  report(outcomes);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

function allMutants(): SampledMutant[] {
  const known = JSON.parse(
    readFileSync(join(import.meta.dirname, 'equivalents.json'), 'utf8'),
  ) as Equivalent[];
  const found: SampledMutant[] = [];
  for (const folder of folders) {
    const path = join(root, folder);
    const files = statSync(path).isDirectory() ? globSync('**/*.ts', { cwd: path }).toSorted() : [''];
    for (const name of files) {
      const file = name === '' ? folder : `${folder}/${name}`;
      const source = readFileSync(join(root, file), 'utf8');
      for (const mutant of findMutants(file, source)) {
        const line = source.slice(0, mutant.start).split('\n').length;
        const change = describe(source, mutant);
        const text = source.split('\n')[line - 1]?.trim() ?? '';
        const equivalent = known.find(
          (each) => each.change === change && each.line === text && file.endsWith(each.file),
        );
        found.push({ ...mutant, id: 0, folder, file, line, change, equivalent: equivalent?.why ?? null });
      }
    }
  }
  return found.map((mutant, id) => ({ ...mutant, id }));
}

function describe(source: string, { start, end, replacement }: Mutant): string {
  const short = (text: string) => text.replace(/\s+/g, ' ').slice(0, 80);
  return `${short(source.slice(start, end))} → ${replacement === null ? '(left out)' : short(replacement)}`;
}

/** A random sample, determined by the seed. */
function sampleMutants(mutants: SampledMutant[], size: number, seed: number): SampledMutant[] {
  let state = seed;
  const random = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const keyed = mutants.map((mutant) => ({ mutant, key: random() }));
  const chosen = keyed.sort((a, b) => a.key - b.key).slice(0, size);
  reportProgress(`${chosen.length} of ${mutants.length} mutants, seed ${seed}`);
  return chosen.map(({ mutant }) => mutant).sort((a, b) => a.id - b.id);
}

/** Copies the tree to the scratch directory, with all mutants of the sample in it, inactive. */
function writeMutants(mutants: readonly SampledMutant[]): void {
  for (const name of COPIED) cpSync(join(root, name), join(scratch, name), { recursive: true });
  for (const name of ['node_modules', 'dist']) symlinkSync(join(root, name), join(scratch, name));
  for (const [file, here] of Map.groupBy(mutants, ({ file }) => file))
    writeFileSync(join(scratch, file), withMutants(readFileSync(join(root, file), 'utf8'), here));
}

async function runMutants(mutants: readonly SampledMutant[]): Promise<Map<SampledMutant, Outcome>> {
  const jobs = await Promise.all(
    Array.from({ length: Number(values.jobs) }, (_, index) => startJob(`job-${index}`)),
  );
  try {
    const reached = await findReachingTests();
    const outcomes = new Map<SampledMutant, Outcome>();
    const waiting = mutants.filter((mutant) => {
      const outcome =
        mutant.equivalent !== null ? 'equivalent' : reached.has(mutant.id) ? undefined : 'not reached';
      if (outcome !== undefined) outcomes.set(mutant, outcome);
      return outcome === undefined;
    });
    await Promise.all(
      jobs.map(async (job) => {
        for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
          const outcome = await job.run(mutant.id, reached.get(mutant.id) ?? new Map());
          outcomes.set(mutant, outcome);
          reportProgress(
            `${outcomes.size}/${mutants.length} ${outcome} ${mutant.file}:${mutant.line} ${mutant.change}`,
          );
        }
      }),
    );
    return outcomes;
  } finally {
    for (const { vitest } of jobs) await vitest.close();
  }
}

interface Job {
  vitest: Vitest;
  /** Prefix of the files that it exchanges with its workers. */
  state: string;
  /** Runs these tests with one active mutant. */
  run(id: number, tests: ReadonlyMap<string, TestsOfFile>): Promise<Outcome>;
}

interface TestsOfFile {
  /** Null for all of them. */
  ids: string[] | null;
  took: number;
}

/** A Vitest instance that is kept for all mutants, with its transformed files. */
async function startJob(name: string, isScout = false): Promise<Job> {
  const state = join(scratch, name);
  const vitest = await createVitest(
    'test',
    {
      config: false,
      root: scratch,
      watch: false,
      include: ['test/**/*.test.ts'],
      setupFiles: ['scripts/mutate/worker-setup.ts'],
      env: { MUTATE_STATE: state },
      reporters: [{}],
      bail: isScout ? 0 : 1,
      maxWorkers: 1,
      // Only a freshly loaded file shows which mutants it reaches while loading.
      isolate: isScout,
      testTimeout: 60_000,
      hookTimeout: 60_000,
    },
    { cacheDir: state, logLevel: 'silent' },
  );

  return {
    vitest,
    state,
    async run(id, tests) {
      writeFileSync(`${state}.active`, String(id));
      // Fast files first: most mutants are caught by one.
      const specifications = [...tests]
        .sort(([, a], [, b]) => a.took - b.took)
        .map(([file, { ids }]) =>
          vitest.getRootProject().createSpecification(file, ids === null ? {} : { testIds: ids }),
        );
      const usual = [...tests.values()].reduce((sum, { took }) => sum + took, 0);
      let isEndless = false;
      let deadline = Date.now() + TIMEOUT_MS + 4 * usual;
      const watch = setInterval(() => {
        if (Date.now() < deadline && memoryOfWorker(state) < MAX_BYTES) return;
        isEndless = true;
        // The next file runs with the same mutant.
        deadline = Date.now() + 5000;
        endWorker(state);
      }, 100);
      const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications);
      clearInterval(watch);
      const failed = isEndless || testModules.some((module) => !module.ok());
      return failed || unhandledErrors.length > 0 ? 'caught' : 'survived';
    },
  };
}

/** A worker in an endless loop reacts to nothing but SIGKILL. */
function endWorker(state: string): void {
  try {
    process.kill(Number(readFileSync(`${state}.pid`, 'utf8')), 'SIGKILL');
  } catch {
    // It has already ended.
  }
}

/** Bytes; 0 where /proc does not exist. */
function memoryOfWorker(state: string): number {
  try {
    const pages = readFileSync(`/proc/${readFileSync(`${state}.pid`, 'utf8')}/statm`, 'utf8').split(' ')[1];
    return Number(pages) * 4096;
  } catch {
    return 0;
  }
}

/** The tests that reach each mutant, from a run without an active one. */
async function findReachingTests(): Promise<Map<number, Map<string, TestsOfFile>>> {
  const { vitest, state } = await startJob('scout', true);
  writeFileSync(`${state}.active`, '-1');
  writeFileSync(`${state}.reached`, '');
  const specifications = relevantFiles().map((file) => vitest.getRootProject().createSpecification(file));
  reportProgress(`${specifications.length} test files without a mutant`);
  const { testModules } = await vitest.runTestSpecifications(specifications);
  await vitest.close();
  const failed = new Set<string>();
  for (const module of testModules.filter((each) => !each.ok())) {
    failed.add(module.moduleId);
    const errors = [
      ...module.errors(),
      ...[...module.children.allTests()].flatMap((test) => test.result().errors ?? []),
    ];
    reportProgress(`excluded, fails without a mutant: ${module.moduleId}: ${errors[0]?.message}`);
  }
  const took = new Map(testModules.map((module) => [module.moduleId, module.diagnostic().duration]));
  const reached = new Map<number, Map<string, TestsOfFile>>();
  for (const line of readFileSync(`${state}.reached`, 'utf8').trimEnd().split('\n')) {
    const { file, tests } = JSON.parse(line) as { file: string; tests: { test: string; ids: number[] }[] };
    if (failed.has(file)) continue;
    for (const { test, ids } of tests) {
      for (const id of ids) {
        const files = reached.get(id) ?? new Map<string, TestsOfFile>();
        const known = files.get(file) ?? { ids: [], took: took.get(file) ?? 0 };
        if (test === '') known.ids = null;
        else known.ids?.push(test);
        reached.set(id, files.set(file, known));
      }
    }
  }
  return reached;
}

/** Test files that import a mutated file, directly or not, and start no program. */
function relevantFiles(): string[] {
  const mutated = new Set(sample.map(({ file }) => join(scratch, file)));
  const known = new Map<string, string[]>();
  const importsOf = (file: string): string[] => {
    const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
    return [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+\.tsx?)'/g)].map(([, to = '']) =>
      resolve(dirname(file), to),
    );
  };
  const reachable = (file: string): Set<string> => {
    const seen = new Set<string>();
    const open = [file];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (seen.has(next)) continue;
      seen.add(next);
      if (!known.has(next)) known.set(next, importsOf(next));
      open.push(...(known.get(next) ?? []));
    }
    return seen;
  };
  const wanted = new RegExp(values.tests);
  return globSync(join(scratch, 'test/**/*.test.ts')).filter((file) => {
    if (!wanted.test(file.slice(scratch.length + 1))) return false;
    const all = [...reachable(file)];
    return all.some((each) => mutated.has(each)) && !all.some((each) => EXCLUDED.test(each));
  });
}

function report(outcomes: ReadonlyMap<SampledMutant, Outcome>): void {
  const all = [...outcomes];
  const lines = [['folder', 'mutants', 'caught', 'survived', 'equivalent', 'caught of the rest']];
  for (const folder of [...folders, 'all']) {
    const here = all
      .filter(([mutant]) => folder === 'all' || mutant.folder === folder)
      .map(([, outcome]) => outcome);
    const count = (...wanted: Outcome[]) => here.filter((outcome) => wanted.includes(outcome)).length;
    const [caught, survived] = [count('caught'), count('survived', 'not reached')];
    const share = caught + survived === 0 ? '' : `${((100 * caught) / (caught + survived)).toFixed(1)} %`;
    lines.push([folder, ...[here.length, caught, survived, count('equivalent')].map(String), share]);
  }
  const widths =
    lines[0]?.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0))) ?? [];
  for (const line of lines) print(line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  for (const [{ file, line, change, equivalent }, outcome] of all)
    if (outcome !== 'caught')
      print(`${outcome} ${file}:${line}  ${change}${equivalent === null ? '' : `  (${equivalent})`}`);
}

function print(line: string): void {
  process.stdout.write(`${line.trimEnd()}\n`);
}

function reportProgress(line: string): void {
  process.stderr.write(`${line}\n`);
}

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

// How much do the tests hold? Changes the core in small ways, one at a time, and sees whether a test fails:
//   npm run mutate -- [folders or files] [--sample 200] [--seed 1] [--jobs 2] [--tests <pattern of paths>]
// All of it happens in a copy of the tree. Types are not asked: a mutant that only they would refuse must be caught
// by a test, too. Each mutant meets the tests that came by it in a run without any; tests of the built program, of
// servers and in browsers are left out, since what they run is not mutated or takes too long.

const ROOMS = [
  'src/citations',
  'src/judge/facts',
  'src/judge',
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
/** A test file that reaches one of these starts programs, servers or browsers. */
const LEFT_OUT = /test\/support\/(run-cli|qdrant-server|browser)\.ts$/;
/** Beyond what its tests took without a mutant. */
const PATIENCE_MS = 30_000;
/** A mutant that collects without an end is stopped before the machine suffers. */
const MOST_BYTES = 3_000_000_000;

interface Planted extends Mutant {
  id: number;
  room: string;
  file: string;
  line: number;
  change: string;
  /** Why no test could notice it; null for all others. */
  equivalent: string | null;
}

interface Equivalent {
  file: string;
  /** The line that it stands in, and the change, as they are printed. */
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
const rooms = positionals.length > 0 ? positionals : ROOMS;
const planted = sampled(allMutants(), Number(values.sample), Number(values.seed));
const scratch = mkdtempSync(join(tmpdir(), 'citeloop-mutate-'));
try {
  plant(planted);
  const outcomes = await meetTests(planted);
  report(outcomes);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

function allMutants(): Planted[] {
  const known = JSON.parse(
    readFileSync(join(import.meta.dirname, 'equivalents.json'), 'utf8'),
  ) as Equivalent[];
  const found: Planted[] = [];
  for (const room of rooms) {
    const path = join(root, room);
    const files = statSync(path).isDirectory() ? globSync('**/*.ts', { cwd: path }).toSorted() : [''];
    for (const name of files) {
      const file = name === '' ? room : `${room}/${name}`;
      const source = readFileSync(join(root, file), 'utf8');
      for (const mutant of findMutants(file, source)) {
        const line = source.slice(0, mutant.start).split('\n').length;
        const change = describe(source, mutant);
        const text = source.split('\n')[line - 1]?.trim() ?? '';
        const equivalent = known.find(
          (each) => each.change === change && each.line === text && file.endsWith(each.file),
        );
        found.push({ ...mutant, id: 0, room, file, line, change, equivalent: equivalent?.why ?? null });
      }
    }
  }
  return found.map((mutant, id) => ({ ...mutant, id }));
}

function describe(source: string, { start, end, replacement }: Mutant): string {
  const short = (text: string) => text.replace(/\s+/g, ' ').slice(0, 80);
  return `${short(source.slice(start, end))} → ${replacement === null ? '(left out)' : short(replacement)}`;
}

/** The first so many after a shuffle that the seed decides. */
function sampled(mutants: Planted[], size: number, seed: number): Planted[] {
  let state = seed;
  const random = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const keyed = mutants.map((mutant) => ({ mutant, key: random() }));
  const chosen = keyed.sort((a, b) => a.key - b.key).slice(0, size);
  tell(`${chosen.length} of ${mutants.length} mutants, seed ${seed}`);
  return chosen.map(({ mutant }) => mutant).sort((a, b) => a.id - b.id);
}

/** The tree in the scratch directory, with every mutant of the sample in it, asleep. */
function plant(mutants: readonly Planted[]): void {
  for (const name of COPIED) cpSync(join(root, name), join(scratch, name), { recursive: true });
  for (const name of ['node_modules', 'dist']) symlinkSync(join(root, name), join(scratch, name));
  for (const [file, here] of Map.groupBy(mutants, ({ file }) => file))
    writeFileSync(join(scratch, file), withMutants(readFileSync(join(root, file), 'utf8'), here));
}

async function meetTests(mutants: readonly Planted[]): Promise<Map<Planted, Outcome>> {
  const jobs = await Promise.all(
    Array.from({ length: Number(values.jobs) }, (_, index) => startJob(`job-${index}`)),
  );
  try {
    const reached = await whatTestsMeet();
    const outcomes = new Map<Planted, Outcome>();
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
          tell(
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
  /** Where it talks with its workers: the beginning of file names. */
  state: string;
  /** Runs these tests of these files with one mutant awake. */
  run(id: number, tests: ReadonlyMap<string, TestsOfFile>): Promise<Outcome>;
}

interface TestsOfFile {
  /** Null for all of them. */
  ids: string[] | null;
  took: number;
}

/** A Vitest that stays, so that what it has transformed is there for every mutant. */
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
      // Which mutants a file meets while it is loaded is seen only if it is loaded anew.
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
      writeFileSync(`${state}.awake`, String(id));
      // Quick files first: most mutants are caught by one.
      const specifications = [...tests]
        .sort(([, a], [, b]) => a.took - b.took)
        .map(([file, { ids }]) =>
          vitest.getRootProject().createSpecification(file, ids === null ? {} : { testIds: ids }),
        );
      const usual = [...tests.values()].reduce((sum, { took }) => sum + took, 0);
      let isEndless = false;
      let deadline = Date.now() + PATIENCE_MS + 4 * usual;
      const watch = setInterval(() => {
        if (Date.now() < deadline && memoryOfWorker(state) < MOST_BYTES) return;
        isEndless = true;
        // What follows meets the same mutant.
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

/** One that computes without an end hears nothing. */
function endWorker(state: string): void {
  try {
    process.kill(Number(readFileSync(`${state}.pid`, 'utf8')), 'SIGKILL');
  } catch {
    // It ended in the meantime.
  }
}

/** Of the one that runs now; 0 where the system does not tell. */
function memoryOfWorker(state: string): number {
  try {
    const pages = readFileSync(`/proc/${readFileSync(`${state}.pid`, 'utf8')}/statm`, 'utf8').split(' ')[1];
    return Number(pages) * 4096;
  } catch {
    return 0;
  }
}

/** Which tests came by each mutant while all of them slept. */
async function whatTestsMeet(): Promise<Map<number, Map<string, TestsOfFile>>> {
  const { vitest, state } = await startJob('scout', true);
  writeFileSync(`${state}.awake`, '-1');
  writeFileSync(`${state}.met`, '');
  const specifications = relevantFiles().map((file) => vitest.getRootProject().createSpecification(file));
  tell(`${specifications.length} test files without a mutant`);
  const { testModules } = await vitest.runTestSpecifications(specifications);
  await vitest.close();
  const failed = new Set<string>();
  for (const module of testModules.filter((each) => !each.ok())) {
    failed.add(module.moduleId);
    const faults = [
      ...module.errors(),
      ...[...module.children.allTests()].flatMap((test) => test.result().errors ?? []),
    ];
    tell(`left out, since it fails without a mutant: ${module.moduleId}: ${faults[0]?.message}`);
  }
  const took = new Map(testModules.map((module) => [module.moduleId, module.diagnostic().duration]));
  const reached = new Map<number, Map<string, TestsOfFile>>();
  for (const line of readFileSync(`${state}.met`, 'utf8').trimEnd().split('\n')) {
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

/** Test files that import a mutated file, by whatever way, and start no program. */
function relevantFiles(): string[] {
  const mutated = new Set(planted.map(({ file }) => join(scratch, file)));
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
    return all.some((each) => mutated.has(each)) && !all.some((each) => LEFT_OUT.test(each));
  });
}

function report(outcomes: ReadonlyMap<Planted, Outcome>): void {
  const all = [...outcomes];
  const lines = [['room', 'mutants', 'caught', 'survived', 'equivalent', 'caught of the rest']];
  for (const room of [...rooms, 'all']) {
    const here = all
      .filter(([mutant]) => room === 'all' || mutant.room === room)
      .map(([, outcome]) => outcome);
    const count = (...wanted: Outcome[]) => here.filter((outcome) => wanted.includes(outcome)).length;
    const [caught, survived] = [count('caught'), count('survived', 'not reached')];
    const share = caught + survived === 0 ? '' : `${((100 * caught) / (caught + survived)).toFixed(1)} %`;
    lines.push([room, ...[here.length, caught, survived, count('equivalent')].map(String), share]);
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

/** Progress, for whoever waits. */
function tell(line: string): void {
  process.stderr.write(`${line}\n`);
}

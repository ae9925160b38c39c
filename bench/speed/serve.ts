import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { median, percentile, processCpuMs, residentMb, withTemporaryDirectory } from '../support/measure.ts';
import { type BenchmarkRow, createNote, createRow, RESULTS_DIRECTORY } from '../support/results.ts';
import { type LoadPoint, renderLoadPlot } from './serve-plot.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/citeloop.js', import.meta.url));
const CONCURRENCIES = [1, 4, 16, 64, 200];
/** Per concurrency; every client takes at least two. */
const MIN_TURNS = 160;
const QUESTIONS = [
  'What is ROS 2?',
  'What is a node?',
  'What is a topic?',
  'What is a service in ROS 2?',
  'What is an action?',
  'What is Isaac Sim?',
  'What is a digital twin?',
  'What is a URDF file?',
  'What is domain randomization?',
  'What is a vision-language-action model?',
  'What is quality of service?',
  'What is a launch file?',
];

interface MeasuredLoad extends LoadPoint {
  turns: number;
  /** CPU time per turn, on all cores. */
  cpuMs: number;
}

/** Measures turns of the built program's server with the offline model, by concurrency. */
export function benchServe(): Promise<BenchmarkRow[]> {
  return withTemporaryDirectory(async (directory) => {
    const { url, child } = await startServer(join(directory, 'home'));
    const pid = child.pid ?? Number.NaN;
    try {
      // A warm-up with every question: indexes the sample book and fills caches.
      for (const [number] of QUESTIONS.entries()) await takeTurn(url, number);
      const points: MeasuredLoad[] = [];
      for (const concurrency of CONCURRENCIES) points.push(await measure(url, pid, concurrency));
      const plot = await writePlot(points);
      const [single] = points;
      const highest = points.at(-1);
      // With perfect scaling, the last of the concurrent turns ends when all cores have computed all turns.
      const idealMs = ((highest?.concurrency ?? 0) * (single?.cpuMs ?? 0)) / availableParallelism();
      return [
        ...points.flatMap(({ concurrency, turnsPerSecond, medianMs, p95Ms, firstWordMs }) => [
          createRow(`serve: ${concurrency} concurrent, offline model`, turnsPerSecond, 'turns/s', {
            ratio: turnsPerSecond / (single?.turnsPerSecond ?? Number.NaN),
          }),
          createRow(`serve: ${concurrency} concurrent, time per turn, median`, medianMs, 'ms'),
          createRow(`serve: ${concurrency} concurrent, time per turn, p95`, p95Ms, 'ms'),
          createRow(`serve: ${concurrency} concurrent, first word, p95`, firstWordMs, 'ms'),
        ]),
        createRow('serve: CPU time per turn, sequential', single?.cpuMs ?? Number.NaN, 'ms'),
        createRow(
          `serve: ${highest?.concurrency} concurrent, p95 compared with the ideal of ${availableParallelism()} cores`,
          idealMs,
          'ms',
          { ratio: (highest?.p95Ms ?? Number.NaN) / idealMs, target: { of: 'ratio', atMost: 2 } },
        ),
        createRow(
          `serve: resident memory after ${points.reduce((sum, { turns }) => sum + turns, QUESTIONS.length)} turns`,
          residentMb(pid),
          'MB',
        ),
        createNote(`serve: plot in ${plot}`),
      ];
    } finally {
      child.kill('SIGINT');
      await once(child, 'exit');
    }
  });
}

async function startServer(home: string): Promise<{ url: string; child: ChildProcess }> {
  await mkdir(home, { recursive: true });
  const child = spawn(process.execPath, [PROGRAM, 'serve', '--port', '0', '--json'], {
    env: { ...process.env, CITELOOP_HOME: home },
    cwd: home,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return { url: (JSON.parse(line.toString()) as { url: string }).url, child };
}

/** Each client asks its next question when it has the answer. */
async function measure(url: string, pid: number, concurrency: number): Promise<MeasuredLoad> {
  const turns = Math.max(MIN_TURNS, 2 * concurrency);
  const taken: { totalMs: number; firstWordMs: number }[] = [];
  let next = 0;
  const cpuBefore = processCpuMs(pid);
  const started = performance.now();
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (next < turns) taken.push(await takeTurn(url, next++));
    }),
  );
  const seconds = (performance.now() - started) / 1000;
  const totals = taken.map(({ totalMs }) => totalMs);
  return {
    concurrency,
    turns,
    cpuMs: (processCpuMs(pid) - cpuBefore) / turns,
    turnsPerSecond: taken.length / seconds,
    medianMs: median(totals),
    p95Ms: percentile(totals, 0.95),
    firstWordMs: percentile(
      taken.map(({ firstWordMs }) => firstWordMs),
      0.95,
    ),
  };
}

/** Takes one streamed turn in a new session. Throws if it does not complete. */
async function takeTurn(url: string, number: number): Promise<{ totalMs: number; firstWordMs: number }> {
  const started = performance.now();
  const response = await fetch(`${url}/api/ask`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ question: QUESTIONS[number % QUESTIONS.length] }),
  });
  let text = '';
  let firstWordMs = Number.NaN;
  for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += piece;
    if (Number.isNaN(firstWordMs) && text.includes('"type":"text_delta"'))
      firstWordMs = performance.now() - started;
  }
  if (!text.includes('"type":"turn_completed"')) throw new Error(`A turn failed: ${text.slice(-300)}`);
  return { totalMs: performance.now() - started, firstWordMs };
}

async function writePlot(points: readonly LoadPoint[]): Promise<string> {
  const path = join(RESULTS_DIRECTORY, 'serve.svg');
  await mkdir(RESULTS_DIRECTORY, { recursive: true });
  await writeFile(path, renderLoadPlot(points));
  return path;
}

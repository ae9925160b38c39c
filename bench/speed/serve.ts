import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { median, percentile, withTemporaryDirectory } from '../support/measure.ts';
import { note, RESULTS, type Row, row } from '../support/results.ts';
import { type LoadPoint, plotLoad } from './serve-plot.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/citeloop.js', import.meta.url));
const CONCURRENCIES = [1, 4, 16, 64, 200];
const PROCESSOR = 'process_cpu_seconds_total';
const MEMORY = 'process_resident_memory_bytes';
const LATE = 'nodejs_eventloop_lag_p99_seconds';
/** For each level; and at least two for each client. */
const LEAST_TURNS = 160;
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
  /** Of all cores, for a turn. */
  processorMs: number;
}

/** Turns of the served agent with the offline model, the built program as a process of its own, by concurrency. */
export function benchServe(): Promise<Row[]> {
  return withTemporaryDirectory(async (directory) => {
    const { url, child } = await startServer(join(directory, 'home'));
    try {
      // Every question once: the sample book is indexed, code is compiled, sentences are remembered.
      for (const [number] of QUESTIONS.entries()) await takeTurn(url, number);
      const points: MeasuredLoad[] = [];
      for (const concurrency of CONCURRENCIES) points.push(await measure(url, concurrency));
      const plot = await writePlot(points);
      const [alone] = points;
      const crowd = points.at(-1);
      // Whoever asks has to wait for all who asked before, and no sooner can they be served than all cores compute.
      const idealMs = ((crowd?.concurrency ?? 0) * (alone?.processorMs ?? 0)) / availableParallelism();
      return [
        ...points.flatMap(({ concurrency, turnsPerSecond, medianMs, p95Ms, firstWordMs }) => [
          row(`serve: ${concurrency} at a time, offline model`, turnsPerSecond, 'turns/s', {
            ratio: turnsPerSecond / (alone?.turnsPerSecond ?? Number.NaN),
          }),
          row(`serve: ${concurrency} at a time, a turn, median`, medianMs, 'ms'),
          row(`serve: ${concurrency} at a time, a turn, p95`, p95Ms, 'ms'),
          row(`serve: ${concurrency} at a time, first word, p95`, firstWordMs, 'ms'),
        ]),
        row('serve: processor time of a turn, one at a time', alone?.processorMs ?? Number.NaN, 'ms'),
        row(
          `serve: ${crowd?.concurrency} at a time, p95 against the ideal of ${availableParallelism()} cores`,
          idealMs,
          'ms',
          { ratio: (crowd?.p95Ms ?? Number.NaN) / idealMs, target: { of: 'ratio', atMost: 2 } },
        ),
        row('serve: how late the main thread is, p99', 1000 * (await told(url, LATE)), 'ms'),
        row(
          `serve: memory of the process after ${points.reduce((sum, { turns }) => sum + turns, QUESTIONS.length)} turns`,
          (await told(url, MEMORY)) / 2 ** 20,
          'MB',
        ),
        note(`serve: plot in ${plot}`),
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

/** Clients that each ask their next question as soon as they have the answer. */
async function measure(url: string, concurrency: number): Promise<MeasuredLoad> {
  const turns = Math.max(LEAST_TURNS, 2 * concurrency);
  const taken: { wholeMs: number; firstWordMs: number }[] = [];
  let next = 0;
  const computed = await told(url, PROCESSOR);
  const started = performance.now();
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (next < turns) taken.push(await takeTurn(url, next++));
    }),
  );
  const seconds = (performance.now() - started) / 1000;
  const whole = taken.map(({ wholeMs }) => wholeMs);
  return {
    concurrency,
    turns,
    processorMs: (1000 * ((await told(url, PROCESSOR)) - computed)) / turns,
    turnsPerSecond: taken.length / seconds,
    medianMs: median(whole),
    p95Ms: percentile(whole, 0.95),
    firstWordMs: percentile(
      taken.map(({ firstWordMs }) => firstWordMs),
      0.95,
    ),
  };
}

/** One streamed answer in a session of its own. Throws unless it was completed. */
async function takeTurn(url: string, number: number): Promise<{ wholeMs: number; firstWordMs: number }> {
  const started = performance.now();
  const response = await fetch(`${url}/api/ask`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ question: QUESTIONS[number % QUESTIONS.length] }),
  });
  let text = '';
  let firstWordMs = Number.NaN;
  for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += part;
    if (Number.isNaN(firstWordMs) && text.includes('"type":"text_delta"'))
      firstWordMs = performance.now() - started;
  }
  if (!text.includes('"type":"turn_completed"')) throw new Error(`A turn failed: ${text.slice(-300)}`);
  return { wholeMs: performance.now() - started, firstWordMs };
}

/** A number that the program tells about itself. */
async function told(url: string, metric: string): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  return Number(new RegExp(`^${metric} (\\S+)$`, 'm').exec(metrics)?.[1]);
}

async function writePlot(points: readonly LoadPoint[]): Promise<string> {
  const path = join(RESULTS, 'serve.svg');
  await mkdir(RESULTS, { recursive: true });
  await writeFile(path, plotLoad(points));
  return path;
}

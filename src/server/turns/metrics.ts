import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { AgentResponse } from '../../domain/agent-response.ts';
import type { EndedRequest } from '../http/create-http-app.ts';

export type TurnOutcome = 'completed' | 'failed' | 'interrupted';

/** What is counted while the server runs, and what it is at the moment it is asked for. */
export interface Metrics {
  requestEnded(request: Omit<EndedRequest, 'caller'>): void;
  turnEnded(outcome: TurnOutcome, seconds: number): void;
  answered(response: Pick<AgentResponse, 'grounded' | 'tokensUsed' | 'retrievalCount'>): void;
  /** A turn that found no place. */
  refused(): void;
  /** In the text format of Prometheus. */
  text(now: { running: number; waiting: number; collections: number }): string;
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS']);
const SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

export function createMetrics(labels: { version: string; model: string }): Metrics {
  const requests = createCounter('citeloop_http_requests_total', 'Requests by route and status.');
  const turns = createCounter('citeloop_turns_total', 'Turns by how they ended.');
  const refusals = createCounter('citeloop_turns_refused_total', 'Turns that found the queue full.');
  const answers = createCounter(
    'citeloop_answers_total',
    'Answers, and whether the documents bear them out.',
  );
  const tokens = createCounter('citeloop_tokens_total', 'Tokens that the model read and wrote.');
  const retrievals = createCounter('citeloop_retrievals_total', 'Searches made for answers.');
  const seconds = createHistogram('citeloop_turn_seconds', 'How long turns took, waiting included.', SECONDS);
  const startedAt = Date.now() / 1000;
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();

  return {
    requestEnded({ method, route, status }) {
      requests.add({ method: METHODS.has(method) ? method : 'other', route, status: String(status) });
    },
    turnEnded(outcome, took) {
      turns.add({ outcome });
      seconds.observe(took);
    },
    answered({ grounded, tokensUsed, retrievalCount }) {
      answers.add({ grounded: String(grounded) });
      tokens.add({ kind: 'prompt' }, tokensUsed.prompt);
      tokens.add({ kind: 'completion' }, tokensUsed.completion);
      retrievals.add({}, retrievalCount);
    },
    refused: () => refusals.add({}),
    text({ running, waiting, collections }) {
      const { rss, heapUsed } = process.memoryUsage();
      const { user, system } = process.cpuUsage();
      return [
        ...[requests, turns, refusals, answers, tokens, retrievals, seconds].flatMap((each) => each.lines()),
        ...gaugeLines('citeloop_turns_running', 'Turns that run now.', running),
        ...gaugeLines('citeloop_turns_waiting', 'Turns that wait for their place.', waiting),
        ...gaugeLines('citeloop_collections_open', 'Collections that are kept open.', collections),
        ...gaugeLines('citeloop_build_info', 'What is running.', 1, labels),
        ...head('process_cpu_seconds_total', 'Time of all cores that the process took.', 'counter'),
        `process_cpu_seconds_total ${(user + system) / 1e6}`,
        ...gaugeLines('process_resident_memory_bytes', 'Memory of the process.', rss),
        ...gaugeLines('nodejs_heap_size_used_bytes', 'Memory that objects take up.', heapUsed),
        ...gaugeLines(
          'nodejs_eventloop_lag_p99_seconds',
          'How late the process is, p99.',
          delay.percentile(99) / 1e9,
        ),
        ...gaugeLines('process_start_time_seconds', 'When the process started.', startedAt),
        '',
      ].join('\n');
    },
  };
}

type Labels = Readonly<Record<string, string>>;

/** A number that only grows, by labels. */
function createCounter(name: string, help: string) {
  const values = new Map<string, number>();
  return {
    add(labels: Labels, amount = 1): void {
      const key = labelText(labels);
      values.set(key, (values.get(key) ?? 0) + amount);
    },
    lines(): string[] {
      return [
        ...head(name, help, 'counter'),
        ...Array.from(values, ([key, value]) => `${name}${key} ${value}`),
      ];
    },
  };
}

/** How many observations were at most so large. */
function createHistogram(name: string, help: string, bounds: readonly number[]) {
  const counts = bounds.map(() => 0);
  let count = 0;
  let sum = 0;
  return {
    observe(value: number): void {
      count += 1;
      sum += value;
      for (const [index, bound] of bounds.entries())
        if (value <= bound) counts[index] = (counts[index] ?? 0) + 1;
    },
    lines(): string[] {
      return [
        ...head(name, help, 'histogram'),
        ...bounds.map((bound, index) => `${name}_bucket{le="${bound}"} ${counts[index]}`),
        `${name}_bucket{le="+Inf"} ${count}`,
        `${name}_sum ${sum}`,
        `${name}_count ${count}`,
      ];
    },
  };
}

function gaugeLines(name: string, help: string, value: number, labels: Labels = {}): string[] {
  return [...head(name, help, 'gauge'), `${name}${labelText(labels)} ${value}`];
}

function head(name: string, help: string, type: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escaped(value: string): string {
  return value.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n');
}

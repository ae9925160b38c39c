import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { AgentResponse } from '../../domain/agent-response.ts';
import type { EndedRequest } from '../http/create-http-app.ts';

export type TurnOutcome = 'completed' | 'failed' | 'interrupted';

/** Prometheus metrics of a server. */
export interface Metrics {
  countRequest(request: Omit<EndedRequest, 'caller'>): void;
  countTurn(outcome: TurnOutcome, seconds: number): void;
  countAnswer(response: Pick<AgentResponse, 'grounded' | 'tokensUsed' | 'retrievalCount'>): void;
  /** Counts a turn that found the queue full. */
  countRefusal(): void;
  /** Formats all metrics in the Prometheus text format. */
  format(now: { running: number; waiting: number; collections: number }): string;
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS']);
const SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

export function createMetrics(labels: { version: string; model: string }): Metrics {
  const requests = createCounter('citeloop_http_requests_total', 'Requests by route and status.');
  const turns = createCounter('citeloop_turns_total', 'Turns by outcome.');
  const refusals = createCounter('citeloop_turns_refused_total', 'Turns refused because the queue was full.');
  const answers = createCounter('citeloop_answers_total', 'Answers by whether they are grounded.');
  const tokens = createCounter('citeloop_tokens_total', 'Tokens used by the model.');
  const retrievals = createCounter('citeloop_retrievals_total', 'Searches.');
  const seconds = createHistogram(
    'citeloop_turn_seconds',
    'Duration of turns, including time in the queue.',
    SECONDS,
  );
  const startedAt = Date.now() / 1000;
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();

  return {
    countRequest({ method, route, status }) {
      requests.add({ method: METHODS.has(method) ? method : 'other', route, status: String(status) });
    },
    countTurn(outcome, duration) {
      turns.add({ outcome });
      seconds.observe(duration);
    },
    countAnswer({ grounded, tokensUsed, retrievalCount }) {
      answers.add({ grounded: String(grounded) });
      tokens.add({ kind: 'prompt' }, tokensUsed.prompt);
      tokens.add({ kind: 'completion' }, tokensUsed.completion);
      retrievals.add({}, retrievalCount);
    },
    countRefusal: () => refusals.add({}),
    format({ running, waiting, collections }) {
      const { rss, heapUsed } = process.memoryUsage();
      const { user, system } = process.cpuUsage();
      return [
        ...[requests, turns, refusals, answers, tokens, retrievals, seconds].flatMap((each) => each.lines()),
        ...gaugeLines('citeloop_turns_running', 'Running turns.', running),
        ...gaugeLines('citeloop_turns_waiting', 'Turns in the queue.', waiting),
        ...gaugeLines('citeloop_collections_open', 'Open collections.', collections),
        ...gaugeLines('citeloop_build_info', 'Version and model.', 1, labels),
        ...headLines('process_cpu_seconds_total', 'CPU time of the process.', 'counter'),
        `process_cpu_seconds_total ${(user + system) / 1e6}`,
        ...gaugeLines('process_resident_memory_bytes', 'Resident memory of the process.', rss),
        ...gaugeLines('nodejs_heap_size_used_bytes', 'Used heap.', heapUsed),
        ...gaugeLines(
          'nodejs_eventloop_lag_p99_seconds',
          'Event loop delay, 99th percentile.',
          delay.percentile(99) / 1e9,
        ),
        ...gaugeLines('process_start_time_seconds', 'Start time of the process.', startedAt),
        '',
      ].join('\n');
    },
  };
}

type Labels = Readonly<Record<string, string>>;

function createCounter(name: string, help: string) {
  const values = new Map<string, number>();
  return {
    add(labels: Labels, amount = 1): void {
      const key = formatLabels(labels);
      values.set(key, (values.get(key) ?? 0) + amount);
    },
    lines(): string[] {
      return [
        ...headLines(name, help, 'counter'),
        ...Array.from(values, ([key, value]) => `${name}${key} ${value}`),
      ];
    },
  };
}

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
        ...headLines(name, help, 'histogram'),
        ...bounds.map((bound, index) => `${name}_bucket{le="${bound}"} ${counts[index]}`),
        `${name}_bucket{le="+Inf"} ${count}`,
        `${name}_sum ${sum}`,
        `${name}_count ${count}`,
      ];
    },
  };
}

function gaugeLines(name: string, help: string, value: number, labels: Labels = {}): string[] {
  return [...headLines(name, help, 'gauge'), `${name}${formatLabels(labels)} ${value}`];
}

function headLines(name: string, help: string, type: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
}

function formatLabels(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escapeLabel(value: string): string {
  return value.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n');
}

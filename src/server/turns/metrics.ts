import type { AgentResponse } from '../../domain/agent-response.ts';
import type { EndedRequest } from '../http/create-http-app.ts';

export type TurnOutcome = 'completed' | 'failed' | 'interrupted';

/** Prometheus metrics of a server. */
export interface ServerMetrics {
  countRequest(request: Pick<EndedRequest, 'method' | 'route' | 'status'>): void;
  countTurn(outcome: TurnOutcome, seconds: number): void;
  countAnswer(response: Pick<AgentResponse, 'grounded' | 'tokensUsed'>): void;
  /** Counts a turn that found the queue full. */
  countRefusal(): void;
  /** Formats all metrics in the Prometheus text format. */
  format(now: { running: number; waiting: number }): string;
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS']);
const BUCKET_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

export function createServerMetrics(): ServerMetrics {
  const requests = createCounter('citeloop_http_requests_total', 'Requests by route and status.');
  const turns = createCounter('citeloop_turns_total', 'Turns by outcome.');
  const refusals = createCounter('citeloop_turns_refused_total', 'Turns refused because the queue was full.');
  const answers = createCounter('citeloop_answers_total', 'Answers by whether they are grounded.');
  const tokens = createCounter('citeloop_tokens_total', 'Tokens used by the model.');
  const buckets = BUCKET_SECONDS.map(() => 0);
  const duration = { count: 0, sum: 0 };

  return {
    countRequest({ method, route, status }) {
      requests.add({ method: METHODS.has(method) ? method : 'other', route, status: String(status) });
    },
    countTurn(outcome, seconds) {
      turns.add({ outcome });
      duration.count += 1;
      duration.sum += seconds;
      for (const [index, bound] of BUCKET_SECONDS.entries())
        if (seconds <= bound) buckets[index] = (buckets[index] ?? 0) + 1;
    },
    countAnswer({ grounded, tokensUsed }) {
      answers.add({ grounded: String(grounded) });
      tokens.add({ kind: 'prompt' }, tokensUsed.prompt);
      tokens.add({ kind: 'completion' }, tokensUsed.completion);
    },
    countRefusal: () => refusals.add({}),
    format({ running, waiting }) {
      const seconds = 'citeloop_turn_seconds';
      const cpu = process.cpuUsage();
      return [
        ...[requests, turns, refusals, answers, tokens].flatMap((counter) => counter.lines()),
        ...headLines(seconds, 'Duration of turns, including time in the queue.', 'histogram'),
        ...BUCKET_SECONDS.map((bound, index) => `${seconds}_bucket{le="${bound}"} ${buckets[index]}`),
        `${seconds}_bucket{le="+Inf"} ${duration.count}`,
        `${seconds}_sum ${duration.sum}`,
        `${seconds}_count ${duration.count}`,
        ...formatValue('citeloop_turns_running', 'Running turns.', running),
        ...formatValue('citeloop_turns_waiting', 'Turns in the queue.', waiting),
        ...formatValue(
          'process_cpu_seconds_total',
          'CPU time of the process.',
          (cpu.user + cpu.system) / 1e6,
        ),
        ...formatValue('process_resident_memory_bytes', 'Memory of the process.', process.memoryUsage.rss()),
        '',
      ].join('\n');
    },
  };
}

function createCounter(name: string, help: string) {
  const values = new Map<string, number>();
  return {
    add(labels: Readonly<Record<string, string>>, amount = 1): void {
      const pairs = Object.entries(labels).map(([label, value]) => `${label}="${escapeLabel(value)}"`);
      const key = pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
      values.set(key, (values.get(key) ?? 0) + amount);
    },
    lines: () => [
      ...headLines(name, help, 'counter'),
      ...Array.from(values, ([key, value]) => `${name}${key} ${value}`),
    ],
  };
}

function formatValue(name: string, help: string, value: number): string[] {
  return [...headLines(name, help, name.endsWith('_total') ? 'counter' : 'gauge'), `${name} ${value}`];
}

function headLines(name: string, help: string, type: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
}

function escapeLabel(value: string): string {
  return value.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n');
}

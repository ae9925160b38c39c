import type { Redactor } from '../faults/redactor.ts';
import { pathOf } from './match-key.ts';
import type { Tape } from './open-tape.ts';
import { joined } from './redact/redact-chunks.ts';
import { redactExchange } from './redact/redact-exchange.ts';
import { type RunOutputs, runOutputsSchema } from './run-outputs.ts';
import type { TapeExchange } from './tape-format.ts';

/** Each call on one line, for people and for programs. */
export interface Call {
  id: number;
  lane: number;
  startedAtMs: number;
  durationMs: number;
  request: string;
  /** The status, or what failed. */
  outcome: string;
  tokens: { input: number; output: number } | null;
  chunks: number | null;
}

interface TapeSummary {
  path: string;
  header: Tape['header'];
  complete: boolean;
  edited: boolean;
  calls: Call[];
  outputs: RunOutputs | null;
}

/** A tape as data: how it was made, each call, and what its run came to, as far as that can be read. */
export function tapeSummary(tape: Tape): TapeSummary {
  const { path, header, complete, edited, tail } = tape;
  return {
    path,
    header,
    complete,
    edited,
    outputs: runOutputsSchema.safeParse(tail?.outputs ?? {}).data ?? null,
    calls: Array.from(tape.exchanges(), (exchange) => ({
      id: exchange.id,
      lane: exchange.lane,
      startedAtMs: exchange.startedAtMs,
      durationMs: exchange.durationMs,
      request: `${exchange.request.method} ${new URL(exchange.request.url).host}${pathOf(exchange.request.url)}`,
      outcome: [exchange.response?.status, exchange.failure?.code ?? exchange.failure?.name]
        .filter((part) => part !== undefined)
        .join(' '),
      tokens: usageOf(exchange),
      chunks: exchange.response?.chunks?.length ?? null,
    })),
  };
}

/** What should keep a tape from being shared, a sentence each. What a secret is called is said, never the secret. */
export function findTapeProblems(tape: Tape, redactor: Redactor): string[] {
  const problems: string[] = [];
  if (!tape.complete) problems.push('Incomplete: the recording was interrupted.');
  if (tape.edited) problems.push('Edited after it was recorded.');
  const { header, tail } = tape;
  for (const [place, value] of Object.entries({
    'the inputs': header.inputs,
    'the outputs': tail?.outputs ?? null,
  })) {
    if (JSON.stringify(redactor.value(value)) !== JSON.stringify(value)) {
      problems.push(`Possible secret in ${place}. Run "citeloop tape scrub" to remove it.`);
    }
  }
  for (const exchange of tape.exchanges()) {
    const { id, request } = exchange;
    if (sorted(redactExchange(exchange, redactor)) === sorted(exchange)) continue;
    problems.push(
      `Possible secret in exchange ${id} (${request.method} ${redactor.text(pathOf(request.url))}). Run "citeloop tape scrub" to remove it.`,
    );
  }
  return problems;
}

/** Redaction puts the fields in an order of its own. */
function sorted(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}

type Fields = Record<string, unknown>;

/** The tokens that a service says an exchange took; null if it says nothing. */
export function usageOf({ response }: TapeExchange): { input: number; output: number } | null {
  const { body, chunks } = response ?? {};
  if (body !== undefined) return 'json' in body ? usageIn(body.json) : null;
  if (chunks === undefined) return null;
  let usage: { input: number; output: number } | null = null;
  for (const [, payload = ''] of joined(chunks).matchAll(/^data:\s*(\{.*\})\s*$/gm)) {
    if (payload.includes('usage')) usage = usageIn(parsed(payload)) ?? usage;
  }
  return usage;
}

/** By the names that OpenAI's two APIs, Cohere and their likes use. */
function usageIn(value: unknown): { input: number; output: number } | null {
  const body = fieldsOf(value);
  const usage = fieldsOf(body.usage ?? fieldsOf(body.response).usage);
  const meta = fieldsOf(body.meta);
  const billed = { ...fieldsOf(meta.billed_units), ...fieldsOf(meta.tokens) };
  const input = numberOf(
    usage.prompt_tokens ?? usage.input_tokens ?? usage.total_tokens ?? billed.input_tokens,
  );
  const output = numberOf(usage.completion_tokens ?? usage.output_tokens ?? billed.output_tokens);
  return input === null && output === null ? null : { input: input ?? 0, output: output ?? 0 };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

import { joined } from './redact/redact-chunks.ts';
import type { TapeExchange } from './tape-format.ts';

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

import { createRedactor } from '../faults/redactor.ts';
import { compareRunOutputs } from './compare-run-outputs.ts';
import { diffAnswers } from './diff-answers.ts';
import { diffJson, type JsonDifference } from './diff-json.ts';
import { createExchangeFinder } from './exchange-finder.ts';
import { canonicalJson, canonicalPath } from './match-key.ts';
import type { Tape } from './read-tape.ts';
import { runOutputsSchema } from './run-outputs.ts';
import { bodyValue, type TapeExchange, type TapeHeader, type TapeJson } from './tape-format.ts';

interface ExchangeDifference {
  kind: 'changed' | 'added' | 'removed';
  /** Numbers of the exchange on the two tapes. */
  before: number | null;
  after: number | null;
  request: string;
  differences: JsonDifference[];
}

export interface TapeDifference {
  same: boolean;
  /** Command, model, inputs and redaction patterns. */
  run: JsonDifference[];
  exchanges: ExchangeDifference[];
  outputs: JsonDifference[];
  counts: { before: number; after: number };
}

/** Compares two tapes except for timing and generated ids. */
export function diffTapes(before: Tape, after: Tape): TapeDifference {
  const run = diffJson(runInputs(before.header), runInputs(after.header));
  const exchanges = diffExchanges(before, after);
  const outputs = compareRunOutputs(readableOutputs(before), readableOutputs(after));
  return {
    same: run.length + exchanges.length + outputs.length === 0,
    run,
    exchanges,
    outputs,
    counts: { before: before.exchanges.length, after: after.exchanges.length },
  };
}

function diffExchanges(before: Tape, after: Tape): ExchangeDifference[] {
  const finder = createExchangeFinder(before, createRedactor());
  const unmatched = new Map(before.exchanges.map((exchange) => [exchange.id, exchange]));
  const found: ExchangeDifference[] = [];
  const added: TapeExchange[] = [];
  for (const now of after.exchanges) {
    const was = finder.find(now.request);
    if (was === null || !unmatched.delete(was.id)) added.push(now);
    else if (diffAnswers(was, now).length > 0) found.push(changed(was, now));
  }
  // Changed requests are paired in order with the remaining ones to the same address.
  for (const now of added) {
    const was = unmatched.values().find((exchange) => formatRequestLine(exchange) === formatRequestLine(now));
    if (was !== undefined) unmatched.delete(was.id);
    found.push(was === undefined ? unpaired('added', now) : changed(was, now));
  }
  for (const was of unmatched.values()) found.push(unpaired('removed', was));
  return found.sort((a, b) => (a.after ?? a.before ?? 0) - (b.after ?? b.before ?? 0));
}

function changed(was: TapeExchange, now: TapeExchange): ExchangeDifference {
  const differences = [...diffJson(requestBody(was), requestBody(now), 'request'), ...diffAnswers(was, now)];
  return { kind: 'changed', before: was.id, after: now.id, request: formatRequestLine(now), differences };
}

function unpaired(kind: 'added' | 'removed', exchange: TapeExchange): ExchangeDifference {
  const [before, after] = kind === 'added' ? [null, exchange.id] : [exchange.id, null];
  return { kind, before, after, request: formatRequestLine(exchange), differences: [] };
}

/** Such as `POST /v1/chat/completions`. */
export function formatRequestLine({ request }: TapeExchange): string {
  return `${request.method} ${canonicalPath(request.url)}`;
}

function requestBody({ request: { body } }: TapeExchange): TapeJson | undefined {
  return body && 'json' in body ? canonicalJson(body.json) : bodyValue(body);
}

function runInputs({ command, model, inputs, redact }: TapeHeader): TapeJson {
  return { command, model, ...inputs, redact };
}

function readableOutputs({ outputs }: Tape) {
  return runOutputsSchema.safeParse(outputs ?? {}).data ?? runOutputsSchema.parse({});
}

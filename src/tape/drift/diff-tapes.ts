import { createRedactor } from '../../faults/redactor.ts';
import { type Difference, diffValues } from '../diff-values.ts';
import { pathOf } from '../match-key.ts';
import type { Tape } from '../open-tape.ts';
import { compareOutputs, runOutputsSchema } from '../run-outputs.ts';
import { answerValue, createRenamedIds, type RenamedIds, sameAnswer, sameValue } from '../same-answer.ts';
import type { TapeExchange, TapeHeader, TapeJson } from '../tape-format.ts';
import { createTapePlayer } from '../tape-player.ts';
import { modelAnswer } from './model-answer.ts';

export interface ExchangeDifference {
  kind: 'changed' | 'added' | 'removed';
  /** Their numbers on the two tapes. */
  before: number | null;
  after: number | null;
  request: string;
  differences: Difference[];
}

export interface TapeDifference {
  /** Whether they differ in ids and times alone. */
  same: boolean;
  /** How the runs were asked for. */
  run: Difference[];
  exchanges: ExchangeDifference[];
  /** What the runs came to. */
  outputs: Difference[];
  counts: { before: number; after: number };
}

/** Where two tapes differ, but for the ids and times that services and runs make up. */
export function diffTapes(before: Tape, after: Tape): TapeDifference {
  const run = diffValues(askedOf(before.header), askedOf(after.header));
  const exchanges = diffExchanges(before, after);
  const outputs = compareOutputs(outputsOf(before), outputsOf(after));
  return {
    same: run.length + exchanges.length + outputs.length === 0,
    run,
    exchanges,
    outputs,
    counts: { before: before.count, after: after.count },
  };
}

function diffExchanges(before: Tape, after: Tape): ExchangeDifference[] {
  const ids = createRenamedIds();
  const player = createTapePlayer(before, createRedactor());
  const left = new Map(Array.from(before.exchanges(), (exchange) => [exchange.id, placeOf(exchange)]));
  const found: ExchangeDifference[] = [];
  const others: TapeExchange[] = [];
  for (const exchange of after.exchanges()) {
    const now = ids.renamed(exchange);
    const was = player.find(now.request);
    if (was === null || !left.delete(was.id)) others.push(now);
    else if (!sameAnswer(now, was, ids)) found.push(changed(was, now, ids));
  }
  // What is asked otherwise is paired with what was asked of the same place, one after the other.
  for (const now of others) {
    const [id] = [...left].find(([, place]) => place === placeOf(now)) ?? [];
    const entry = before.entries().find((each) => each.id === id);
    if (id !== undefined) left.delete(id);
    found.push(
      entry === undefined ? alone('added', now) : changed(before.read(entry), ids.renamed(now), ids),
    );
  }
  for (const entry of before.entries())
    if (left.has(entry.id)) found.push(alone('removed', before.read(entry)));
  return found.sort((a, b) => (a.after ?? a.before ?? 0) - (b.after ?? b.before ?? 0));
}

function changed(was: TapeExchange, now: TapeExchange, ids: RenamedIds): ExchangeDifference {
  const differences = [
    ...diffValues(bodyOf(was), bodyOf(now), 'request'),
    ...diffValues(answerOf(was), answerOf(now), 'answer'),
  ].filter(({ path, before, after }) => !sameValue(after, before, ids, path.match(/[\w-]+$/)?.[0]));
  return { kind: 'changed', before: was.id, after: now.id, request: placeOf(now), differences };
}

function alone(kind: 'added' | 'removed', exchange: TapeExchange): ExchangeDifference {
  const [before, after] = kind === 'added' ? [null, exchange.id] : [exchange.id, null];
  return { kind, before, after, request: placeOf(exchange), differences: [] };
}

function placeOf({ request }: TapeExchange): string {
  return `${request.method} ${pathOf(request.url)}`;
}

function bodyOf({ request: { body } }: TapeExchange): TapeJson | undefined {
  if (body === undefined) return undefined;
  return 'json' in body ? body.json : 'text' in body ? body.text : body.base64;
}

/** Of a model what it said and called, put together; otherwise what was answered, as it came. */
function answerOf(exchange: TapeExchange): TapeJson {
  const answer = modelAnswer(exchange);
  if (answer !== null) return { ...answer };
  const { response, failure } = exchange;
  return {
    ...(failure && { failure: failure.code ?? failure.name }),
    ...(response && { status: response.status, body: answerValue(response) ?? null }),
  };
}

function askedOf({ command, model, inputs, redact }: TapeHeader): TapeJson {
  return { command, model, ...inputs, redact };
}

function outputsOf({ tail }: Tape) {
  return runOutputsSchema.parse(runOutputsSchema.safeParse(tail?.outputs ?? {}).data ?? {});
}

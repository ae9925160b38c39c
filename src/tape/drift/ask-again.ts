import { MASK } from '../../faults/redactor.ts';
import { pathOf } from '../match-key.ts';
import type { Tape } from '../open-tape.ts';
import { recordFetch } from '../record-fetch.ts';
import { bodyBytes, type Fetch } from '../tape-exchange.ts';
import type { TapeExchange } from '../tape-format.ts';
import { usageOf } from '../tape-summary.ts';
import { type AnswerChange, answerChanges } from './answer-changes.ts';

/** Where services answer questions, and nothing is changed by asking. A store is not asked: it holds what one put there. */
const ASKED = /\/(?:chat\/completions|responses|embeddings|embed|rerank)$/;
const PATIENCE_MS = 120_000;

/** Where a call goes today. The tape does not say, as it may be anybody's. */
export interface Service {
  url: string;
  headers: Record<string, string>;
}

export interface AskAgainOptions {
  tapes: readonly Tape[];
  /** At most so many calls, spread evenly over the tapes. */
  sample: number;
  /** What asking may cost, as far as the recorded tokens tell beforehand; null for whatever it takes. */
  budget: number | null;
  /** Null for a model whose price is not known. */
  priceOf(model: string, tokens: { input: number; output: number }): number | null;
  /** A sentence where the call cannot be made. */
  serviceOf(url: string): Service | string;
  fetch: Fetch;
  signal: AbortSignal;
  onAsked?: (asked: AskedAgain) => void;
}

export interface AskedAgain {
  tape: string;
  exchange: number;
  request: string;
  /** Empty if it was answered as before. */
  changes: AnswerChange[];
  cost: number | null;
}

export interface AskedSample {
  asked: AskedAgain[];
  /** Why others were not asked, and how many. */
  left: { reason: string; calls: number }[];
  /** Null if no price was known. */
  spent: number | null;
}

interface Candidate {
  tape: Tape;
  exchange: TapeExchange;
  service: Service;
}

/** Asks services once more what they were asked on tapes, and says what is different about their answers. */
export async function askAgain(options: AskAgainOptions): Promise<AskedSample> {
  const { sample, budget, priceOf } = options;
  const left = new Map<string, number>();
  const leave = (reason: string, calls = 1) => void left.set(reason, (left.get(reason) ?? 0) + calls);
  const candidates = options.tapes.flatMap((tape) => [...candidatesOf(tape, options, leave)]);
  const chosen = evenly(candidates, sample);
  if (candidates.length > chosen.length) leave('not in the sample', candidates.length - chosen.length);

  const asked: AskedAgain[] = [];
  let spent: number | null = null;
  for (const candidate of chosen) {
    const { tape, exchange } = candidate;
    const cost = costOf(exchange, priceOf);
    if (budget !== null && (spent ?? 0) + (cost ?? 0) > budget) {
      leave('the budget would be passed');
      continue;
    }
    const now = await ask(candidate, options);
    const paid = costOf(now, priceOf) ?? cost;
    spent = paid === null ? spent : (spent ?? 0) + paid;
    const result: AskedAgain = {
      tape: tape.path,
      exchange: exchange.id,
      request: `${exchange.request.method} ${pathOf(exchange.request.url)}`,
      changes: answerChanges(exchange, now),
      cost: paid,
    };
    asked.push(result);
    options.onAsked?.(result);
  }
  return { asked, left: Array.from(left, ([reason, calls]) => ({ reason, calls })), spent };
}

function* candidatesOf(
  tape: Tape,
  { serviceOf, budget, priceOf }: AskAgainOptions,
  leave: (reason: string) => void,
): Generator<Candidate> {
  for (const exchange of tape.exchanges()) {
    const { request, failure } = exchange;
    if (request.method !== 'POST' || !ASKED.test(new URL(request.url).pathname)) {
      leave('a store or another service that is not asked again');
      continue;
    }
    const service = serviceOf(request.url);
    if (typeof service === 'string') leave(service);
    else if (failure !== undefined) leave('it had failed or was given up');
    else if (JSON.stringify(request.body ?? null).includes(MASK))
      leave('something was taken out of the request');
    else if (budget !== null && costOf(exchange, priceOf) === null) leave('its price is not known');
    else yield { tape, exchange, service };
  }
}

/** So many of them at equal distances: the same ones every time. */
function evenly<T>(all: readonly T[], count: number): T[] {
  const step = Math.max(1, all.length / count);
  return all.filter((_, index) => Math.floor(index / step) > Math.floor((index - 1) / step)).slice(0, count);
}

async function ask(
  { exchange, service }: Candidate,
  { fetch, signal }: AskAgainOptions,
): Promise<TapeExchange> {
  let made: TapeExchange | undefined;
  const { fetch: recorded } = recordFetch(fetch, {
    nextId: () => exchange.id,
    onExchange: (each) => {
      made = each;
    },
  });
  const { headers, body } = exchange.request;
  const { accept = 'application/json', 'content-type': type = 'application/json' } = headers;
  const patience = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]);
  await recorded(service.url, {
    method: 'POST',
    headers: { accept, 'content-type': type, ...service.headers },
    ...(body && { body: Buffer.from(bodyBytes(body) as string) }),
    redirect: 'error',
    signal: patience,
  })
    .then((response) => response.arrayBuffer())
    .catch(() => signal.throwIfAborted());
  // It ends with its answer, or with why there was none. It is the same request, wherever the service is now.
  const failure = { name: 'TimeoutError', message: 'No answer.' };
  return { ...(made ?? { ...exchange, response: undefined, failure }), request: exchange.request };
}

function costOf(exchange: TapeExchange, priceOf: AskAgainOptions['priceOf']): number | null {
  const { body } = exchange.request;
  const fields = body !== undefined && 'json' in body ? body.json : null;
  const model = typeof fields === 'object' && fields !== null && !Array.isArray(fields) ? fields.model : null;
  const tokens = usageOf(exchange);
  return typeof model === 'string' && tokens !== null ? priceOf(model, tokens) : null;
}

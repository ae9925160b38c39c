import { REDACTED } from '../faults/redactor.ts';
import { type AnswerChangeKind, answerChangeKind, diffAnswers } from './diff-answers.ts';
import { formatJsonDifference } from './diff-json.ts';
import { formatRequestLine } from './diff-tapes.ts';
import type { Tape } from './read-tape.ts';
import { createFetchRecorder } from './record-fetch.ts';
import type { TapeExchange } from './tape-format.ts';
import { toBodyContent } from './tape-http.ts';

/** Requests that change nothing. A store is left out, since its content may have changed. */
const REISSUABLE_PATH = /\/(?:chat\/completions|responses|embeddings|embed|rerank)$/;
const TIMEOUT_MS = 120_000;

/** Where a request is sent now, with the key for it. */
export interface ServiceTarget {
  url: string;
  headers: Record<string, string>;
}

export interface ReissueOptions {
  tapes: readonly Tape[];
  /** Highest number of calls, spread evenly over the tapes. */
  sample: number;
  /** Returns a reason if the request must not be sent: a tape may come from anyone. */
  serviceOf(url: string): ServiceTarget | string;
  fetch: typeof globalThis.fetch;
  signal: AbortSignal;
}

export interface ReissueResult {
  asked: {
    tape: string;
    exchange: number;
    request: string;
    /** Empty if the answer is the same. */
    changes: { kind: AnswerChangeKind; detail: string }[];
  }[];
  /** Calls that were not sent again, counted by reason. */
  left: { reason: string; calls: number }[];
}

interface Candidate {
  tape: Tape;
  exchange: TapeExchange;
  service: ServiceTarget;
}

/** Sends a sample of the recorded requests to the services again and compares the answers. */
export async function reissueRequests(options: ReissueOptions): Promise<ReissueResult> {
  const left = new Map<string, number>();
  const skip = (reason: string, calls = 1) => void left.set(reason, (left.get(reason) ?? 0) + calls);
  const candidates = options.tapes.flatMap((tape) => [...findCandidates(tape, options, skip)]);
  const chosen = pickEvenly(candidates, options.sample);
  if (candidates.length > chosen.length) skip('not in the sample', candidates.length - chosen.length);

  const asked: ReissueResult['asked'] = [];
  for (const candidate of chosen) {
    const { tape, exchange } = candidate;
    const now = await reissue(candidate, options);
    const changes = diffAnswers(exchange, now).map((difference) => ({
      kind: answerChangeKind(difference),
      detail: formatJsonDifference(difference).trim(),
    }));
    asked.push({ tape: tape.path, exchange: exchange.id, request: formatRequestLine(exchange), changes });
  }
  return { asked, left: Array.from(left, ([reason, calls]) => ({ reason, calls })) };
}

function* findCandidates(
  tape: Tape,
  { serviceOf }: ReissueOptions,
  skip: (reason: string) => void,
): Generator<Candidate> {
  for (const exchange of tape.exchanges) {
    const { request, failure } = exchange;
    if (request.method !== 'POST' || !REISSUABLE_PATH.test(new URL(request.url).pathname)) {
      skip('not a model, embedding or rerank request');
      continue;
    }
    const service = serviceOf(request.url);
    if (typeof service === 'string') skip(service);
    else if (failure !== undefined) skip('the recorded call failed');
    else if (JSON.stringify(request.body ?? null).includes(REDACTED)) skip('the request was redacted');
    else yield { tape, exchange, service };
  }
}

/** Deterministic, so that runs can be compared. */
function pickEvenly<T>(all: readonly T[], count: number): T[] {
  const step = Math.max(1, all.length / count);
  return all.filter((_, index) => Math.floor(index / step) > Math.floor((index - 1) / step)).slice(0, count);
}

async function reissue(
  { exchange, service }: Candidate,
  { fetch, signal }: ReissueOptions,
): Promise<TapeExchange> {
  let answered: TapeExchange | undefined;
  const { fetch: recordedFetch } = createFetchRecorder(fetch, (each) => {
    answered = each;
  });
  const { headers, body } = exchange.request;
  const { accept = 'application/json', 'content-type': type = 'application/json' } = headers;
  await recordedFetch(service.url, {
    method: 'POST',
    headers: { accept, 'content-type': type, ...service.headers },
    ...(body && { body: Buffer.from(toBodyContent(body) as string) }),
    redirect: 'error',
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
  })
    .then((response) => response.arrayBuffer())
    .catch(() => signal.throwIfAborted());
  const failure = { name: 'TimeoutError', message: 'No answer.' };
  const { id, request } = exchange;
  return { ...(answered ?? { ...exchange, response: undefined, failure }), id, request };
}

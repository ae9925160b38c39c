import { checkAnswer, countVerifiedFacts } from '../../citations/check-answer.ts';
import { createSourceRegister } from '../../citations/source-register.ts';
import { MAX_EXCERPT } from '../../domain/citation.ts';
import type { ConversationTurn } from '../../domain/conversation-turn.ts';
import type { RetrievalContext } from '../../domain/retrieval-context.ts';
import type { RetrievedChunk } from '../../domain/retrieved-chunk.ts';
import type { ErrorResponse } from '../../faults/error-response.ts';
import { oneLine } from '../../text/visible-text.ts';
import { decoded, matchesSource } from '../cases/expected-source.ts';
import type { Gold } from '../metrics/metric.ts';
import { isExpected } from '../metrics/retrieval-metrics.ts';
import type { CaseRun, ReportChunk } from '../report/case-run.ts';
import type { PriceOf } from './prices.ts';

/** What was seen of a turn while it ran. */
export interface Observation {
  /** Null if it ended in an error. */
  turn: ConversationTurn | null;
  error: ErrorResponse | null;
  /** Searches begun, as they were asked for. */
  searches: readonly { query: string; filter: RetrievalContext['filter'] }[];
  /** What came back, before the budget of the prompt was applied. */
  contexts: readonly RetrievalContext[];
  firstTokenMs: number | null;
  totalMs: number;
}

/** A turn as the report keeps it. */
export function toCaseRun(
  observation: Observation,
  gold: Gold,
  repeat: number,
  { priceOf }: { priceOf: PriceOf },
): CaseRun {
  const { turn, searches } = observation;
  const response = turn?.response;
  // A turn may come to an end although none of its searches did.
  const error = observation.error ?? response?.error ?? null;
  const chunk = reportChunk(gold);
  const retrieved = new Map(
    observation.contexts.flatMap(({ chunks }) => chunks.map((each) => [each.chunkId, each] as const)),
  );
  const tokens = response?.tokensUsed ?? { prompt: 0, completion: 0, total: 0 };
  const scores = observation.contexts.flatMap(({ chunks, nearMiss }) =>
    [...chunks, ...(nearMiss === null ? [] : [nearMiss])].map(({ score }) => score),
  );
  const facts =
    turn === null
      ? { sentences: [], quotes: { total: 0, held: 0 }, numbers: { total: 0, held: 0 } }
      : checkFacts(turn);
  return {
    repeat,
    answer: response?.answer ?? '',
    abstained: response !== undefined && response.outcome !== 'answer',
    grounded: response?.grounded ?? false,
    confidence: response?.confidence ?? null,
    citations: (response?.citations ?? []).map(
      ({ marker, verdict, chunkId, title, url: cited, score, excerpt }) => {
        const url = addressFor(retrieved.get(chunkId ?? '') ?? { url: cited }, gold);
        const expected = isExpected({ url, chunkId }, gold);
        return { marker, verdict, chunkId, title, url, score, excerpt, expected };
      },
    ),
    ...facts,
    retrievals: (turn?.retrievals ?? observation.contexts).map((context) => ({
      query: context.query,
      filter: context.filter,
      scoreThreshold: context.scoreThreshold,
      totalFound: context.totalFound,
      chunks: context.chunks.map(chunk),
      nearMiss: context.nearMiss === null ? null : chunk(context.nearMiss),
      timeMs: context.queryTimeMs,
    })),
    searches: searches.length,
    duplicateSearches: searches.length - new Set(searches.map(searchKey)).size,
    steps: Math.max(0, ...(turn?.decisions ?? []).map(({ step }) => step)),
    bestScore: scores.length === 0 ? null : Math.max(...scores),
    tokens,
    cost: error === null ? priceOf(response?.model ?? '', tokens) : null,
    timesMs: {
      firstToken: observation.firstTokenMs,
      retrieval: response?.retrievalTimeMs ?? 0,
      generation: response?.generationTimeMs ?? 0,
      total: response?.totalTimeMs ?? observation.totalMs,
    },
    judge: null,
    checks: [],
    error,
  };
}

function searchKey({ query, filter }: Observation['searches'][number]): string {
  return JSON.stringify([query.toLowerCase().replace(/\s+/g, ' ').trim(), filter]);
}

function reportChunk(gold: Gold): (chunk: RetrievedChunk) => ReportChunk {
  return (chunk) => {
    const { chunkId, title, headings, score, text } = chunk;
    const url = addressFor(chunk, gold);
    const expected = isExpected({ url, chunkId }, gold);
    return { chunkId, title, url, headings, score, excerpt: oneLine(text, MAX_EXCERPT), expected };
  };
}

/** A file is told by its place, or by more of its path where the case names it by directories above what was ingested. */
function addressFor({ url, uri }: Pick<RetrievedChunk, 'url' | 'uri'>, { expected }: Gold): string {
  if (uri === undefined || /^https?:/i.test(url)) return url;
  const names = expected.sources.filter((source) => matchesSource(source, uri));
  return names.find((name) => matchesSource(decoded(url), name)) ?? url;
}

/** The sentences of an answer with their verdicts, and whether its quotes and numbers stand in what it cites. */
function checkFacts({
  response,
  retrievals,
}: Pick<ConversationTurn, 'response' | 'retrievals'>): Pick<CaseRun, 'sentences' | 'quotes' | 'numbers'> {
  const sources = createSourceRegister();
  // In this order the session gave them their refs.
  for (const { chunks } of retrievals) for (const chunk of chunks) sources.register(chunk);
  // Records of earlier versions hold no sentences.
  const checked = response.sentences.length > 0 ? response : checkAnswer(response.answer, sources);
  return {
    sentences: checked.sentences.map(({ text, refs, verdict, probability, unsupportedSpans }) => ({
      text,
      markers: refs,
      verdict,
      probability,
      unsupportedSpans,
    })),
    ...countVerifiedFacts(checked.sentences, sources),
  };
}

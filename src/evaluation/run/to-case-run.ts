import { saysNoInformation } from '../../domain/agent-response.ts';
import { MAX_EXCERPT } from '../../domain/citation.ts';
import type { ConversationTurn } from '../../domain/conversation-turn.ts';
import type { ErrorResponse } from '../../domain/error-response.ts';
import type { RetrievalContext } from '../../domain/retrieval-context.ts';
import type { RetrievedChunk } from '../../domain/retrieved-chunk.ts';
import { oneLine } from '../../domain/visible-text.ts';
import type { Gold } from '../metrics/metric.ts';
import { isExpected } from '../metrics/retrieval-ranking.ts';
import type { CaseRun, ReportChunk } from '../report/report-data.ts';
import { checkFacts } from './check-facts.ts';
import type { PriceOf } from './prices.ts';

/** What was seen of a turn while it ran. */
export interface Observed {
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
export function toCaseRun(observed: Observed, gold: Gold, repeat: number, priceOf: PriceOf): CaseRun {
  const { turn, searches } = observed;
  const response = turn?.response;
  // A turn may come to an end although none of its searches did.
  const error = observed.error ?? response?.error ?? null;
  const chunk = reportChunk(gold);
  const tokens = response?.tokensUsed ?? { prompt: 0, completion: 0, total: 0 };
  const scores = observed.contexts.flatMap(({ chunks, nearMiss }) =>
    [...chunks, ...(nearMiss === null ? [] : [nearMiss])].map(({ score }) => score),
  );
  const facts =
    turn === null
      ? { sentences: [], quotes: { total: 0, held: 0 }, numbers: { total: 0, held: 0 } }
      : checkFacts(turn);
  return {
    repeat,
    answer: response?.answer ?? '',
    abstained: response !== undefined && saysNoInformation(response.answer),
    grounded: response?.grounded ?? false,
    confidence: response?.confidence ?? null,
    citations: (response?.citations ?? []).map(
      ({ marker, verdict, chunkId, title, url, score, excerpt }) => ({
        marker,
        verdict,
        chunkId,
        title,
        url,
        score,
        excerpt,
        expected: isExpected({ url, chunkId }, gold),
      }),
    ),
    ...facts,
    retrievals: (turn?.retrievals ?? observed.contexts).map((context) => ({
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
      firstToken: observed.firstTokenMs,
      retrieval: response?.retrievalTimeMs ?? 0,
      generation: response?.generationTimeMs ?? 0,
      total: response?.totalTimeMs ?? observed.totalMs,
    },
    judge: null,
    error,
  };
}

function searchKey({ query, filter }: Observed['searches'][number]): string {
  return JSON.stringify([query.toLowerCase().replace(/\s+/g, ' ').trim(), filter]);
}

function reportChunk(gold: Gold): (chunk: RetrievedChunk) => ReportChunk {
  return ({ chunkId, title, url, headings, score, text }) => ({
    chunkId,
    title,
    url,
    headings,
    score,
    excerpt: oneLine(text, MAX_EXCERPT),
    expected: isExpected({ url, chunkId }, gold),
  });
}

import { cutText } from '../../../domain/cut-text.ts';
import { visibleText } from '../../../domain/visible-text.ts';
import type { CaseRun, ReportCase, ReportChunk, ReportData } from '../report-data.ts';
import { headlineOf } from './headline.ts';
import type {
  PageCase,
  PageChunk,
  PageCitation,
  PageData,
  PageHit,
  PageRun,
  PageSentence,
} from './page-data.ts';

/** How much the page may carry. A text that is longer ends in an ellipsis. */
export interface PageLimits {
  excerpt: number;
  answer: number;
  /** Passages a search. */
  hits: number;
}

/** The cases as the page carries them: every text and every chunk is held once, numbers as short as they are shown. */
export function packCases(data: ReportData, limits: PageLimits): PageData {
  const texts = createTexts();
  const chunks: PageChunk[] = [];
  const places = new Map<string, number>();

  function chunkAt({ chunkId, title, url, headings, excerpt }: ReportChunk): number {
    const known = places.get(chunkId);
    if (known !== undefined) return known;
    places.set(chunkId, chunks.length);
    return (
      chunks.push([
        texts.at(title),
        texts.at(url),
        texts.at(headings.join(' › ')),
        texts.at(excerpt, limits.excerpt),
      ]) - 1
    );
  }

  function hit(chunk: ReportChunk): PageHit {
    return [chunkAt(chunk), rounded(chunk.score), flag(chunk.expected)];
  }

  function citation({ marker, verdict, chunkId, ...cited }: CaseRun['citations'][number]): PageCitation {
    const chunk: number | PageChunk = (chunkId === null ? undefined : places.get(chunkId)) ?? [
      texts.at(cited.title),
      texts.at(cited.url),
      texts.at(''),
      texts.at(cited.excerpt, limits.excerpt),
    ];
    return [visibleText(marker), verdict, chunk, rounded(cited.score), flag(cited.expected)];
  }

  function run(source: CaseRun): PageRun {
    // Retrievals first: citations point at what they brought.
    const retrievals = source.retrievals.map(
      ({ query, filter, scoreThreshold, totalFound, nearMiss, ...rest }) => ({
        query: texts.at(query),
        ...(Object.keys(filter).length > 0 && { filter }),
        threshold: rounded(scoreThreshold),
        found: totalFound,
        hits: rest.chunks.slice(0, limits.hits).map(hit),
        ...(nearMiss !== null && { nearMiss: hit(nearMiss) }),
        ms: Math.round(rest.timeMs),
      }),
    );
    const answer = limited(source.answer, limits.answer);
    const doubted = sentencesIn(answer, source.sentences, texts.at);
    const { tokens, timesMs, judge, error } = source;
    return {
      ...(answer !== '' && { answer: texts.at(answer) }),
      ...(source.abstained && { abstained: 1 as const }),
      ...(source.grounded && { grounded: 1 as const }),
      ...(source.confidence !== null && { confidence: source.confidence }),
      ...(source.citations.length > 0 && { citations: source.citations.map(citation) }),
      ...(doubted.length > 0 && { sentences: doubted }),
      ...(retrievals.length > 0 && { retrievals }),
      ...(source.searches > 0 && { searches: source.searches }),
      ...(source.duplicateSearches > 0 && { duplicates: source.duplicateSearches }),
      ...(source.steps > 0 && { steps: source.steps }),
      ...(tokens.total > 0 && {
        tokens: [tokens.prompt, tokens.completion, tokens.total] as PageRun['tokens'] & {},
      }),
      ...(source.cost !== null && { cost: Number(source.cost.toPrecision(4)) }),
      times: [
        timesMs.firstToken === null ? null : Math.round(timesMs.firstToken),
        Math.round(timesMs.retrieval),
        Math.round(timesMs.generation),
        Math.round(timesMs.total),
      ],
      ...(judge !== null && {
        judge: [judge.scores.map(rounded), texts.at(judge.reason)] as PageRun['judge'] & {},
      }),
      ...(error !== null && { error: [error.errorType, texts.at(error.message)] as PageRun['error'] & {} }),
    };
  }

  const names = data.arms.map(({ name }) => name);
  const headline = headlineOf(data);
  const pageCase = (item: ReportCase): PageCase => ({
    id: visibleText(item.id),
    question: visibleText(item.question),
    answerable: item.answerable,
    needsRetrieval: item.needsRetrieval,
    tags: item.tags.map(visibleText),
    history: item.history.map(({ content }) => texts.at(content)),
    expected: Object.fromEntries(
      Object.entries(item.expected)
        .filter(([, values]) => values.length > 0)
        .map(([name, values]) => [name, values.map(visibleText)]),
    ),
    results: names.map((name) => {
      const result = item.results[name];
      return {
        values: data.metrics.map(({ id }) => {
          const value = result?.metrics[id] ?? null;
          return value === null ? null : Number(value.toPrecision(4));
        }),
        runs: (result?.runs ?? []).map(run),
      };
    }),
  });
  const cases = data.cases.map(pageCase);
  return {
    arms: names.map(visibleText),
    metrics: data.metrics.map(({ id, label, unit, better }) => ({ id, label, unit, better })),
    headline: headline === null ? null : data.metrics.indexOf(headline),
    texts: texts.all,
    chunks,
    cases,
  };
}

function createTexts() {
  const all: string[] = [];
  const places = new Map<string, number>();
  return {
    all,
    at(text: string, limit = Number.POSITIVE_INFINITY): number {
      const shown = limited(text, limit);
      const known = places.get(shown);
      if (known !== undefined) return known;
      places.set(shown, all.length);
      return all.push(shown) - 1;
    },
  };
}

function limited(text: string, limit: number): string {
  const shown = visibleText(text);
  return shown.length <= limit ? shown : `${cutText(shown, limit - 1).trimEnd()}…`;
}

/**
 * The sentences that no citation bears out, one after the other as they stand in the answer; one that is not there
 * word for word brings its text.
 */
function sentencesIn(
  answer: string,
  sentences: CaseRun['sentences'],
  textAt: (text: string) => number,
): PageSentence[] {
  let from = 0;
  return sentences.flatMap(({ text, verdict }): PageSentence[] => {
    const shown = visibleText(text);
    const start = answer.indexOf(shown, from);
    const isThere = start >= 0 && shown !== '';
    if (isThere) from = start + shown.length;
    if (verdict === 'supported') return [];
    return [[isThere ? [start, shown.length] : textAt(shown), verdict]];
  });
}

function rounded(score: number): number {
  return Math.round(score * 1000) / 1000;
}

function flag(expected: boolean | null): 0 | 1 | null {
  return expected === null ? null : expected ? 1 : 0;
}

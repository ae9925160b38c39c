import { citationPassed } from '../../domain/citation.ts';
import { cutText, visibleText } from '../../text/visible-text.ts';
import type { CaseRun, ReportChunk } from './case-run.ts';
import type { Comparison } from './comparison.ts';
import { joined } from './format-value.ts';
import type {
  PageCase,
  PageChunk,
  PageCitation,
  PageComparison,
  PageData,
  PageHit,
  PageRun,
  PageSentence,
} from './page-data.ts';
import type { ReportCase } from './report-case.ts';
import type { ReportData } from './report-data.ts';
import { findingOf } from './verdict.ts';

/** How much the page may carry. A text that is longer ends in an ellipsis. */
interface PageLimits {
  excerpt: number;
  answer: number;
  /** Passages a search. */
  hits: number;
}

/** Under 5 MB with all the rest of the page. */
const MOST_BYTES = 4_600_000;
const WHOLE = Number.POSITIVE_INFINITY;
const LIMITS: readonly PageLimits[] = [
  { excerpt: WHOLE, answer: WHOLE, hits: WHOLE },
  { excerpt: 160, answer: WHOLE, hits: WHOLE },
  { excerpt: 100, answer: 2000, hits: WHOLE },
  { excerpt: 80, answer: 1000, hits: 5 },
  { excerpt: 60, answer: 500, hits: 3 },
  { excerpt: 40, answer: 250, hits: 1 },
];
/** What the page leads with where the cases allow it. */
const FIRST_CHOICE = 'answer.correct';

/**
 * What the page reads, as JSON that can stand inside a script element. Where it would make the page too large,
 * passages and then answers are cut, and the page says so.
 */
export function embedData(report: ReportData): string {
  let json = '';
  for (const limits of LIMITS) {
    json = scriptJson(packReport(report, limits));
    if (Buffer.byteLength(json) <= MOST_BYTES) break;
  }
  return json;
}

/** Without a `<`, JSON can neither end its script element nor open a comment in it. */
export function scriptJson(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c');
}

/** The report as the page carries it. */
export function packReport(report: ReportData, limits: PageLimits): PageData {
  const { kind, header, verdict, notes, metrics, arms, searchWorth, gates } = report;
  return {
    ...visible({
      kind,
      header,
      verdict,
      notes,
      metrics,
      arms,
      searchWorth,
      gates,
      finding: findingOf(report),
      comparisons: report.comparisons.map(packComparison),
    }),
    headline: headlineOf(report),
    shortened: sentenceOn(limits),
    ...packCases(report, limits),
  };
}

/** A value with every text in it made visible, names of fields included: tags are such names. */
function visible<T>(value: T): T;
function visible(value: unknown): unknown {
  if (typeof value === 'string') return visibleText(value);
  if (Array.isArray(value)) return value.map(visible);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [visibleText(name), visible(inner)]),
  );
}

function packComparison({ metrics, ...rest }: Comparison): PageComparison {
  return {
    ...rest,
    metrics: metrics.map((metric) => ({
      ...metric,
      better: metric.better.length,
      worse: metric.worse.length,
    })),
  };
}

function headlineOf({ metrics, arms }: ReportData): number | null {
  const shares = metrics.filter(
    ({ id, unit }) => unit === 'share' && arms.some(({ metrics }) => metrics[id]?.status === 'value'),
  );
  const headline = shares.find(({ id }) => id === FIRST_CHOICE) ?? shares[0];
  return headline === undefined ? null : metrics.indexOf(headline);
}

function sentenceOn({ excerpt, answer, hits }: PageLimits): string | null {
  if (excerpt === WHOLE) return null;
  const cuts = [
    `passages are cut to ${excerpt} characters`,
    ...(answer === WHOLE ? [] : [`answers to ${answer}`]),
    ...(hits === WHOLE
      ? []
      : [
          hits === 1
            ? 'only the best passage of a search is shown'
            : `only the best ${hits} passages of a search are shown`,
        ]),
  ];
  return `To keep the page small, ${joined(cuts)}. All of it is in the report that --json writes.`;
}

/** The cases: every text and every chunk is held once, numbers are as short as they are shown. */
function packCases(data: ReportData, limits: PageLimits): Pick<PageData, 'texts' | 'chunks' | 'cases'> {
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
        ...(Object.keys(filter).length > 0 && { filter: visible(filter) }),
        threshold: rounded(scoreThreshold),
        found: totalFound,
        hits: rest.chunks.slice(0, limits.hits).map(hit),
        ...(nearMiss !== null && { nearMiss: hit(nearMiss) }),
        ms: Math.round(rest.timeMs),
      }),
    );
    const answer = limited(source.answer, limits.answer);
    const doubted = sentencesIn(answer, source, texts.at);
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
    results: data.arms.map(({ name }) => {
      const result = item.results[name];
      return {
        values: data.metrics.map(({ id }) => {
          const value = result?.metrics[id] ?? null;
          return value === null ? null : Number(value.toPrecision(4));
        }),
        runs: (result?.runs ?? []).map(run),
        ...(result?.search && { search: result.search }),
      };
    }),
  });
  const cases = data.cases.map(pageCase);
  return { texts: texts.all, chunks, cases };
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
 * The sentences that no citation bears out, or not every word of them, one after the other as they stand in the answer; one that is not there
 * word for word brings its text.
 */
function sentencesIn(
  answer: string,
  source: Pick<CaseRun, 'answer' | 'sentences'>,
  textAt: (text: string) => number,
): PageSentence[] {
  let from = 0;
  return source.sentences.flatMap(({ text, verdict, unsupportedSpans }): PageSentence[] => {
    const shown = visibleText(text);
    const start = answer.indexOf(shown, from);
    const isThere = start >= 0 && shown !== '';
    if (isThere) from = start + shown.length;
    const words = wordsIn(
      shown,
      unsupportedSpans.map((word) => visibleText(source.answer.slice(word.start, word.end))),
    );
    if (citationPassed({ verdict }) && words.length === 0) return [];
    const at: PageSentence[0] = isThere ? [start, shown.length] : textAt(shown);
    return [words.length === 0 ? [at, verdict] : [at, verdict, words]];
  });
}

/** Where words that follow each other stand in a sentence. */
function wordsIn(sentence: string, words: readonly string[]): [start: number, length: number][] {
  let from = 0;
  return words.flatMap((word): [number, number][] => {
    const start = sentence.indexOf(word, from);
    if (start < 0 || word === '') return [];
    from = start + word.length;
    return [[start, word.length]];
  });
}

function rounded(score: number): number {
  return Math.round(score * 1000) / 1000;
}

function flag(expected: boolean | null): 0 | 1 | null {
  return expected === null ? null : expected ? 1 : 0;
}

import type { Filter } from '../../domain/query.ts';
import type { CaseRun } from './case-run.ts';
import type { Comparison, MetricComparison } from './comparison.ts';
import type { ReportCase, SearchKind } from './report-case.ts';
import type { ReportData } from './report-data.ts';

/** A text's place in `PageData.texts`. */
type TextAt = number;
/** Whether the case expects it; null without gold. */
type Expected = 0 | 1 | null;

/**
 * What the page reads: the report without what it does not show, each text and each chunk once, everything else
 * small. Nothing in it reorders text or is a control character; all of it is text, whatever it looks like.
 */
export interface PageData
  extends Pick<
    ReportData,
    'kind' | 'header' | 'verdict' | 'notes' | 'metrics' | 'arms' | 'searchWorth' | 'gates'
  > {
  /** What was found, in one line. */
  finding: string;
  /** The place of the metric of quality by which the page ranks and filters; null where no arm has one. */
  headline: number | null;
  comparisons: PageComparison[];
  /** What was cut so that the page stays small, as a sentence; null if nothing was. */
  shortened: string | null;
  texts: string[];
  chunks: PageChunk[];
  cases: PageCase[];
}

export interface PageComparison extends Omit<Comparison, 'metrics'> {
  metrics: PageMetricComparison[];
}

/** With the number of cases on either side in place of their names. */
export interface PageMetricComparison extends Omit<MetricComparison, 'better' | 'worse'> {
  better: number;
  worse: number;
}

export type PageChunk = [title: TextAt, url: TextAt, headings: TextAt, excerpt: TextAt];

export interface PageCase extends Pick<ReportCase, 'id' | 'question' | 'answerable' | 'needsRetrieval'> {
  tags: string[];
  /** User and assistant in turn. */
  history: TextAt[];
  expected: Partial<ReportCase['expected']>;
  /** In the order of the arms. */
  results: PageResult[];
}

export interface PageResult {
  /** In the order of the metrics; null where the case has no part in one. */
  values: (number | null)[];
  runs: PageRun[];
  /** What searching was worth; left out where that is not known. */
  search?: SearchKind;
}

/** Fields that would be false, empty or nought are left out. */
export interface PageRun {
  answer?: TextAt;
  abstained?: 1;
  grounded?: 1;
  confidence?: NonNullable<CaseRun['confidence']>;
  citations?: PageCitation[];
  /** Those of which something is borne out by no citation. */
  sentences?: PageSentence[];
  retrievals?: PageRetrieval[];
  searches?: number;
  duplicates?: number;
  steps?: number;
  tokens?: [prompt: number, completion: number, total: number];
  cost?: number;
  times: [firstToken: number | null, retrieval: number, generation: number, total: number];
  judge?: [scores: number[], reason: TextAt];
  error?: [type: string, message: TextAt];
}

/** A chunk that was retrieved is named by its place; what else is cited brings its own title and address. */
export type PageCitation = [
  marker: string,
  verdict: CaseRun['citations'][number]['verdict'],
  chunk: number | PageChunk,
  score: number,
  expected: Expected,
];
/** Where in the answer it stands, or its own text; the verdict is null where nothing is cited. */
export type PageSentence = [
  at: [start: number, length: number] | TextAt,
  verdict: CaseRun['sentences'][number]['verdict'],
  /** The words that nothing bears out, where there are any, by their place in the sentence. */
  words?: [start: number, length: number][],
];
export type PageHit = [chunk: number, score: number, expected: Expected];
export interface PageRetrieval {
  query: TextAt;
  filter?: Filter;
  threshold: number;
  found: number;
  hits: PageHit[];
  nearMiss?: PageHit;
  ms: number;
}

import type { CaseGold } from '../../src/evaluation/metrics/metric.ts';
import type { CaseRun } from '../../src/evaluation/report/case-run.ts';

/** An empty run with the given changes. */
export function createRun(changes: Partial<CaseRun> = {}): CaseRun {
  return {
    repeat: 1,
    answer: '',
    abstained: false,
    grounded: false,
    checked: true,
    confidence: null,
    citations: [],
    sentences: [],
    retrievals: [],
    searches: 0,
    duplicateSearches: 0,
    steps: 1,
    tokens: { prompt: 0, completion: 0, total: 0 },
    cost: null,
    timesMs: { firstToken: null, retrieval: 0, generation: 0, total: 0 },
    grade: null,
    checks: [],
    error: null,
    ...changes,
  };
}

/** A run whose only search returned documents of these names, in this order. */
export function createRunWithResults(...names: string[]): CaseRun {
  const chunks = names.map((name, index) => ({
    chunkId: `${name}-${index}`,
    title: name,
    url: `file:///docs/${name}`,
    headings: [],
    score: 0.9,
    excerpt: '',
    expected: null,
  }));
  const retrieval = {
    query: 'q',
    filter: {},
    scoreThreshold: 0.3,
    totalFound: chunks.length,
    chunks,
    nearMiss: null,
    timeMs: 1,
  };
  return createRun({ retrievals: [retrieval], searches: 1 });
}

export function createCitation(
  name: string,
  verdict: CaseRun['citations'][number]['verdict'] = 'supported',
): CaseRun['citations'][number] {
  return {
    marker: '1',
    verdict,
    chunkId: verdict === 'unknown_source' ? null : `${name}-0`,
    title: name,
    url: `file:///docs/${name}`,
    score: 0.9,
    excerpt: '',
    expected: null,
  };
}

export function createRunError(): NonNullable<CaseRun['error']> {
  return {
    errorType: 'api_error',
    message: 'It broke.',
    userMessage: 'It broke.',
    retryAfter: null,
    recoverable: false,
  };
}

interface GoldParts extends Partial<CaseGold['expected']> {
  answerable?: boolean;
  needsRetrieval?: boolean;
}

export function createGold({ answerable, needsRetrieval, ...expected }: GoldParts = {}): CaseGold {
  return {
    answerable: answerable ?? null,
    needsRetrieval: needsRetrieval ?? null,
    expected: { sources: [], chunks: [], phrases: [], forbidden: [], answers: [], checks: [], ...expected },
  };
}

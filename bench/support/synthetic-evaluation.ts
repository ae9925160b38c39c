import type { EvaluationCase } from '../../src/evaluation/cases/evaluation-case.ts';
import type { ArmResults } from '../../src/evaluation/report/assemble-report.ts';
import type { CaseRun } from '../../src/evaluation/report/case-run.ts';
import type { ReportData } from '../../src/evaluation/report/report-data.ts';
import { createRandom } from './synthetic.ts';

/** Cases with data for every metric. */
export function createSyntheticCases(count: number): EvaluationCase[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `case-${index}`,
    question: `Question ${index}?`,
    ...(index % 4 === 0
      ? { answerable: false }
      : { answerable: true, expectedSources: [`d${index}.md`], expectedAnswer: 'blue whale' }),
    needsRetrieval: index % 7 !== 0,
  }));
}

/** An arm that answers a random share of the cases correctly. */
export function createSyntheticArm(
  name: string,
  cases: readonly EvaluationCase[],
  skill: number,
  seed: number,
): ArmResults {
  const random = createRandom(seed);
  const runs = new Map(
    cases.map((item, index) => [item.id, [syntheticRun(index, random() < skill, random)]]),
  );
  const settings = {
    model: 'bench',
    policy: 'tool',
    mode: 'hybrid',
    topK: 5,
    scoreThreshold: 0.3,
    rerank: false,
    temperature: 0,
    maxSteps: 8,
  } as const;
  return { name, settings, changed: {}, runs };
}

function syntheticRun(index: number, isCorrect: boolean, random: () => number): CaseRun {
  const chunk = (name: string) => ({
    chunkId: name,
    title: name,
    url: `file:///docs/${name}.md`,
    headings: [],
    score: random(),
    excerpt: 'text',
    expected: null,
  });
  const chunks = [chunk('x'), chunk(isCorrect ? `d${index}` : 'y')];
  const verdict = isCorrect ? ('supported' as const) : ('unsupported' as const);
  const total = Math.round(500 + 1000 * random());
  return {
    repeat: 1,
    answer: isCorrect ? 'It is the blue whale. [1]' : 'It is something else. [1]',
    abstained: index % 4 === 0 && isCorrect,
    grounded: isCorrect,
    checked: true,
    confidence: 'high',
    citations: [
      {
        marker: '1',
        verdict,
        chunkId: chunks[1]?.chunkId ?? null,
        title: '',
        url: chunks[1]?.url ?? '',
        score: 0.5,
        excerpt: '',
        expected: null,
      },
    ],
    sentences: [{ text: 'It is.', markers: ['1'], verdict, reason: null }],
    retrievals: [
      { query: 'q', filter: {}, scoreThreshold: 0.3, totalFound: 2, chunks, nearMiss: null, timeMs: 1 },
    ],
    searches: 1,
    duplicateSearches: 0,
    steps: 2,
    tokens: { prompt: total - 50, completion: 50, total },
    cost: total / 1e6,
    timesMs: { firstToken: 100 * random(), retrieval: 5, generation: 100, total: 200 * random() },
    grade: null,
    checks: [],
    error: null,
  };
}

export function createSyntheticHeader(cases: number): ReportData['header'] {
  return {
    program: 'citeloop',
    version: '0.0.0',
    models: ['bench'],
    collection: { name: 'bench', documents: 1, chunks: 1, embedder: 'none', fingerprint: null },
    casesFile: 'bench.jsonl',
    casesHash: 'bench',
    cases,
    repeat: 1,
    concurrency: 1,
    seed: 1,
    margin: 0.05,
    conversations: cases,
    date: new Date(0).toISOString(),
    durationMs: 0,
    totals: { turns: cases, reused: 0, tokens: 0, money: null, grading: null },
    currency: null,
    grader: null,
  };
}

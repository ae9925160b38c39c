import { createHash } from 'node:crypto';
import { createRandom } from '../../../bench/support/synthetic.ts';
import type { EvaluationCase } from '../../../src/evaluation/cases/evaluation-case.ts';
import { allMetrics } from '../../../src/evaluation/metrics/all-metrics.ts';
import { assembleReport } from '../../../src/evaluation/report/assemble-report.ts';
import type { CaseRun, ReportChunk } from '../../../src/evaluation/report/case-run.ts';
import type { ReportArm, ReportData } from '../../../src/evaluation/report/report-data.ts';

export interface SyntheticOptions {
  cases: number;
  arms?: readonly NonNullable<ReportArm['settings']>['policy'][];
  /** The number of chunks in the collection. */
  chunks?: number;
  topK?: number;
  answerWords?: number;
  repeat?: number;
  seed?: number;
}

const WORDS =
  'the robot joint torque sensor maps a frame to gravity while nodes publish topics and services wait for goals in simulation with friction and noise'.split(
    ' ',
  );
const TAGS = ['plain', 'paraphrased', 'multi-turn', 'near miss'];

/** Creates a report of synthetic runs with the real metrics and statistics; equal options give equal reports. */
export function syntheticReport(options: SyntheticOptions): ReportData {
  const {
    cases: count,
    arms = ['tool', 'always'],
    chunks: size = 200,
    topK = 5,
    answerWords = 40,
    repeat = 1,
    seed = 7,
  } = options;
  const random = createRandom(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const words = (length: number) => Array.from({ length }, () => WORDS[below(WORDS.length)]).join(' ');
  const sentence = (length: number) => `${words(length)}.`.replace(/^./, (letter) => letter.toUpperCase());
  const library = Array.from({ length: size }, (_, index) => ({
    chunkId: createHash('sha256').update(String(index)).digest('hex').slice(0, 32),
    title: `Chapter ${Math.floor(index / 8)}`,
    url: `https://docs.example.org/book/chapter-${Math.floor(index / 8)}.html`,
    headings: [`Section ${index % 8}`],
    excerpt: sentence(34).slice(0, 200),
  }));

  const cases = Array.from({ length: count }, (_, index): EvaluationCase => {
    const answerable = index % 4 !== 3;
    const tag = TAGS[index % TAGS.length] as string;
    return {
      id: `case-${String(index + 1).padStart(4, '0')}`,
      question: `${sentence(9).slice(0, -1)}?`,
      tags: [tag],
      answerable,
      needsRetrieval: true,
      ...(answerable && { expectedSources: [library[below(size)]?.url as string] }),
      ...(tag === 'multi-turn' && {
        history: [
          { role: 'user' as const, content: `${sentence(7)}` },
          { role: 'assistant' as const, content: sentence(20) },
        ],
      }),
    };
  });

  function caseRun(item: EvaluationCase, arm: number, place: number): CaseRun {
    const goldenUrl = item.expectedSources?.[0];
    const isFound = random() < 0.7 + arm * 0.06;
    const golden = library.find(({ url }) => url === goldenUrl);
    const hits = Array.from({ length: topK }, (_, rank): ReportChunk => {
      const chunk = rank === 0 && isFound && golden !== undefined ? golden : library[below(size)];
      const score = Math.max(0, (item.answerable ? 0.8 : 0.45) - rank * 0.05 - random() * 0.2);
      return { ...(chunk as typeof golden & {}), score, expected: chunk?.url === goldenUrl };
    });
    const abstains = item.answerable === false ? random() < 0.75 : random() < 0.1;
    const sentences = Array.from({ length: Math.max(1, Math.round(answerWords / 14)) }, () => sentence(14));
    const cited = hits.slice(0, 2);
    const answer = abstains
      ? "I don't have information about that."
      : sentences.map((text, index) => `${text} [${(index % cited.length) + 1}]`).join(' ');
    const prompt = 700 + arm * 250 + below(200);
    const completion = Math.ceil(answer.length / 4);
    return {
      repeat: place,
      answer,
      abstained: abstains,
      grounded: !abstains,
      checked: true,
      confidence: 'high',
      citations: abstains
        ? []
        : cited.map(({ headings: _, ...chunk }, index) => ({
            ...chunk,
            marker: String(index + 1),
            verdict: random() < 0.9 ? ('supported' as const) : ('unsupported' as const),
          })),
      sentences: abstains
        ? []
        : sentences.map((text, index) => ({
            text,
            markers: [String((index % cited.length) + 1)],
            verdict: random() < 0.9 ? ('supported' as const) : null,
            reason: null,
          })),
      retrievals: [
        {
          query: item.question,
          filter: {},
          scoreThreshold: 0.35,
          totalFound: topK + below(20),
          chunks: hits,
          nearMiss: null,
          timeMs: 10 + random() * 20,
        },
      ],
      searches: 1,
      duplicateSearches: 0,
      steps: 2,
      tokens: { prompt, completion, total: prompt + completion },
      cost: null,
      timesMs: {
        firstToken: 50 + random() * 100,
        retrieval: 10 + random() * 20,
        generation: 100 + random() * 300,
        total: 200 + random() * 300,
      },
      grade: null,
      checks: [],
      error: null,
    };
  }

  return assembleReport({
    header: {
      program: 'citeloop',
      version: '0.1.0',
      models: ['made-up'],
      collection: {
        name: 'made_up',
        documents: Math.ceil(size / 8),
        chunks: size,
        embedder: 'none',
        fingerprint: null,
      },
      casesFile: 'cases/made-up.jsonl',
      casesHash: createHash('sha256').update(JSON.stringify(cases)).digest('hex'),
      cases: count,
      repeat,
      concurrency: 1,
      seed: 1,
      margin: 0.05,
      date: '2026-01-02T03:04:05.000Z',
      durationMs: 61_000,
      totals: { turns: count, reused: 0, tokens: 0, money: null, grading: null },
      currency: null,
      grader: null,
    },
    cases,
    metrics: allMetrics,
    arms: arms.map((policy, arm) => ({
      name: policy,
      settings: {
        model: 'made-up',
        policy,
        mode: 'hybrid',
        topK,
        scoreThreshold: 0.35,
        rerank: false,
        temperature: 0.1,
        maxSteps: 8,
      },
      changed: arms.length > 1 ? { policy } : {},
      runs: new Map(
        cases.map((item) => [
          item.id,
          Array.from({ length: repeat }, (_, place) => caseRun(item, arm, place + 1)),
        ]),
      ),
    })),
  });
}

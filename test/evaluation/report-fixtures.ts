import type { ReportArm, ReportData } from '../../src/evaluation/report/report-data.ts';

export const armSettings: ReportArm['settings'] = {
  model: 'offline',
  policy: 'tool',
  mode: 'hybrid',
  topK: 5,
  scoreThreshold: 0.3,
  rerank: false,
  temperature: 0.1,
  maxSteps: 8,
};

export function createHeader(cases: number): ReportData['header'] {
  return {
    program: 'citeloop',
    version: '1.2.3',
    models: ['offline'],
    collection: { name: 'docs', documents: 2, chunks: 9, embedder: 'words', fingerprint: null },
    casesFile: 'cases.yaml',
    casesHash: 'hash',
    cases,
    repeat: 1,
    concurrency: 1,
    seed: 1,
    margin: 0.05,
    conversations: cases,
    date: '2026-01-01T00:00:00.000Z',
    durationMs: 1000,
    totals: { turns: cases, reused: 0, tokens: 0, money: null, grading: null },
    currency: null,
    grader: null,
  };
}

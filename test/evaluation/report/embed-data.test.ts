import fc from 'fast-check';
import { expect, test } from 'vitest';
import { embedData, packReport, scriptJson } from '../../../src/evaluation/report/embed-data.ts';
import type { PageData } from '../../../src/evaluation/report/page-data.ts';
import { anyCharacter } from '../../support/any-character.ts';
import { hostileReport } from './hostile-report.ts';
import { syntheticReport } from './synthetic-report.ts';

const ALL = Number.POSITIVE_INFINITY;
const WHOLE = { excerpt: ALL, answer: ALL, hits: ALL };

test('JSON in a script element holds no angle bracket and reads back as it was, whatever the text', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: anyCharacter }), fc.constant('</script><!--<script>')), (text) => {
      const json = scriptJson({ text });
      expect(json).not.toContain('<');
      expect(JSON.parse(json)).toEqual({ text });
    }),
  );
});

test('each chunk and each text is held once', () => {
  const report = syntheticReport({ cases: 40, chunks: 30 });
  const { chunks, texts } = packReport(report, WHOLE);
  expect(chunks.length).toBeLessThanOrEqual(30);
  expect(new Set(texts).size).toBe(texts.length);
});

test('what is packed names the same answers, scores and sources as the report', () => {
  const report = syntheticReport({ cases: 12 });
  const packed = packReport(report, WHOLE);
  report.cases.forEach((item, place) => {
    const [run] = item.results.tool?.runs ?? [];
    const [page] = packed.cases[place]?.results[0]?.runs ?? [];
    expect(packed.texts[page?.answer ?? -1]).toBe(run?.answer);
    expect(
      page?.retrievals?.[0]?.hits.map(([chunk]) => packed.texts[packed.chunks[chunk]?.[1] ?? -1]),
    ).toEqual(run?.retrievals[0]?.chunks.map(({ url }) => url));
    expect(page?.citations?.map(([marker, verdict]) => [marker, verdict]) ?? []).toEqual(
      run?.citations.map(({ marker, verdict }) => [marker, verdict]),
    );
  });
});

test('a metric in which a case has no part stays null', () => {
  const report = syntheticReport({ cases: 4 });
  const packed = packReport(report, WHOLE);
  const cost = report.metrics.findIndex(({ id }) => id === 'cost.money');
  expect(packed.cases.map(({ results }) => results[0]?.values[cost])).toEqual([null, null, null, null]);
});

test('a sentence that no citation bears out is found in the answer by its place', () => {
  const report = syntheticReport({ cases: 8 });
  const [run] = report.cases[0]?.results.tool?.runs ?? [];
  const said = (run?.sentences ?? []).map(({ text }, index) => ({
    text,
    markers: [],
    verdict: index === 1 ? null : ('supported' as const),
    probability: null,
    unsupportedSpans: [],
  }));
  Object.assign(run ?? {}, { sentences: said });
  const packed = packReport(report, WHOLE);
  const page = packed.cases[0]?.results[0]?.runs[0];
  expect(page?.sentences).toHaveLength(1);
  const [at, verdict] = page?.sentences?.[0] ?? [];
  const [start, length] = at as [number, number];
  expect(packed.texts[page?.answer ?? -1]?.slice(start, start + length)).toBe(said[1]?.text);
  expect(verdict).toBeNull();
});

test('a supported sentence with a word that nothing bears out is kept, with the place of the word in it', () => {
  const report = syntheticReport({ cases: 8 });
  const [run] = report.cases[0]?.results.tool?.runs ?? [];
  const answer = 'Gnus have beards [1]. Gnus graze in Heidelberg [1].';
  const sentence = (text: string, unsupportedSpans: { start: number; end: number }[]) => ({
    text,
    markers: ['1'],
    verdict: 'supported' as const,
    probability: 0.8,
    unsupportedSpans,
  });
  const place = answer.indexOf('Heidelberg');
  const sentences = [
    sentence('Gnus have beards.', []),
    sentence('Gnus graze in Heidelberg.', [{ start: place, end: place + 10 }]),
  ];
  Object.assign(run ?? {}, { answer, sentences });
  const packed = packReport(report, WHOLE);
  const [[at, verdict, words] = [], ...others] = packed.cases[0]?.results[0]?.runs[0]?.sentences ?? [];
  expect(others).toEqual([]);
  expect(packed.texts[at as number]).toBe('Gnus graze in Heidelberg.');
  expect({ verdict, words }).toEqual({ verdict: 'supported', words: [[14, 10]] });
});

test('a report too large for the page is shortened, and the page says so', () => {
  const report = syntheticReport({ cases: 10 });
  for (const item of report.cases) {
    for (const { runs } of Object.values(item.results)) {
      for (const run of runs) run.answer = `${run.answer}${item.id}x`.padEnd(300_000, 'long ');
    }
  }
  const json = embedData(report);
  const { shortened, texts } = JSON.parse(json) as PageData;
  expect(json.length).toBeLessThan(4_600_000);
  expect(shortened).toContain('answers to 2000');
  expect(texts.some((text) => text.endsWith('…'))).toBe(true);
});

test('a report of ordinary size is not shortened', () => {
  const { shortened } = JSON.parse(embedData(syntheticReport({ cases: 10 }))) as PageData;
  expect(shortened).toBeNull();
});

test('marks that reorder text and control characters reach the page nowhere, not even in names of tags', () => {
  const json = embedData(hostileReport(syntheticReport({ cases: 8 })));
  expect(json).not.toMatch(/[\u202a-\u202e\u2066-\u2069]|\\u(?:0000|001b|202e)/i);
  expect(json).toContain('near miss');
});

test('a comparison brings the number of cases on either side and not their names', () => {
  const report = syntheticReport({ cases: 40 });
  const packed = packReport(report, WHOLE);
  const [metric] = packed.comparisons[0]?.metrics ?? [];
  expect(metric?.better).toBe(report.comparisons[0]?.metrics[0]?.better.length);
  expect(metric?.worse).toBe(report.comparisons[0]?.metrics[0]?.worse.length);
});

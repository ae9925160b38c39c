import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMiniLmEmbedder } from '../../src/adapters/onnx/minilm-embedder.ts';
import { createJudge, type LocalAnswerJudge } from '../../src/judge/answer-judge.ts';
import type { JudgedPassage } from '../../src/judge/facts/evidence.ts';
import type { Embedder } from '../../src/ports/embedder.ts';
import { splitPassageUnits } from '../../src/text/passage-units.ts';
import { modelLocation } from '../support/model-weights.ts';

let embedder: Embedder;
let judge: LocalAnswerJudge;

beforeAll(async () => {
  const model = await createMiniLmEmbedder({ location: modelLocation() });
  embedder = model;
  judge = createJudge(model);
});

afterAll(() => embedder.close());

const BATTERY: JudgedPassage = {
  text: 'The rover carries a lithium battery. It lasts nine hours on a full charge. Swap it when the lamp turns red.',
  title: 'Rover',
  headings: ['Power'],
};

test('quotes a sentence of the source, and rates a paraphrase higher than another sentence', async () => {
  const quoted = await judge.checkSupport('It lasts nine hours on a full charge.', [BATTERY]);
  const paraphrase = await judge.checkSupport('Fully charged, the battery of the rover lasts nine hours.', [
    BATTERY,
  ]);
  const other = await judge.checkSupport('The arm of the crane is painted by volunteers in spring.', [
    BATTERY,
  ]);
  expect(quoted.verdict).toBe('quoted');
  expect(paraphrase.chance).toBeGreaterThan(other.chance + 0.3);
  expect(other.verdict).toBe('unsupported');
  expect(BATTERY.text.slice(paraphrase.evidence?.start, paraphrase.evidence?.end)).toContain('nine hours');
});

test('does not support a missing number or name', async () => {
  const number = await judge.checkSupport(
    'The lithium battery of the rover lasts 12 hours on a full charge.',
    [BATTERY],
  );
  expect(number.objections).toContain('number');
  expect(['weak', 'unsupported']).toContain(number.verdict);
  const claim = 'The rover of Heidelberg carries a lithium battery.';
  const name = await judge.checkSupport(claim, [BATTERY]);
  expect(name.objections).toContain('name');
  expect(name.unsupportedSpans.map(({ start, end }) => claim.slice(start, end))).toContain('Heidelberg');
});

test('rates a passage on the topic higher by its words', async () => {
  const other = { ...BATTERY, text: 'The arm of the crane is painted by volunteers in spring.' };
  const question = 'How long does the accumulator last?';
  const [about = 0, beside = 0] = await judge.compareWords(question, [BATTERY, other], () => 1);
  expect(about).toBeGreaterThan(beside + 0.1);
  const [lasting = 0] = await judge.compareWords(question, [BATTERY], (term) => Number(term === 'last'));
  expect(lasting).toBeGreaterThan(about);
});

test('supports a claim by several passages together', async () => {
  const more: JudgedPassage = { text: 'The rover was built in Graz by students.', title: '', headings: [] };
  const claim = 'The rover, built in Graz, carries a lithium battery.';
  const both = await judge.checkSupport(claim, [BATTERY, more]);
  expect(both.objections).toEqual([]);
  expect((await judge.checkSupport(claim, [BATTERY])).objections).toContain('name');
});

test('rates a passage that answers higher than another, and finds the unit that answers', async () => {
  const rover: JudgedPassage = {
    text: 'Students painted the hull blue in spring. The battery lasts nine hours on a full charge.',
    title: 'Rover',
    headings: [],
  };
  const crane: JudgedPassage = { text: 'The arm of the crane is long.', title: 'Crane', headings: [] };
  const candidates = [rover, crane].map((passage, index) => ({
    passage,
    rank: index + 1,
    score: 0.5,
    units: splitPassageUnits(passage.text),
  }));
  const question = 'How long does the battery of the rover last?';
  const [first, second] = await judge.ratePassages(question, candidates);
  expect(first?.bestUnit).toBe(1);
  expect(first?.chance).toBeGreaterThan(second?.chance ?? 1);
  const [other] = await judge.ratePassages('Who won the election in Peru?', candidates);
  expect(other?.chance).toBeLessThan(first?.chance ?? 0);
  expect(await judge.ratePassages('Who won?', [])).toEqual([]);
});

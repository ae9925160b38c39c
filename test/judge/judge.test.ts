import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMiniLmEmbedder } from '../../src/adapters/onnx/minilm-embedder.ts';
import { createJudge, type ReadingJudge } from '../../src/judge/create-judge.ts';
import type { JudgedPassage, Unit } from '../../src/judge/unit.ts';
import type { Embedder } from '../../src/ports/embedder.ts';
import { modelLocation } from '../support/model-weights.ts';

let embedder: Embedder;
let judge: ReadingJudge;

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

test('a sentence of the source is quoted, a paraphrase is likelier than something else', async () => {
  const quoted = await judge.support('It lasts nine hours on a full charge.', [BATTERY]);
  const paraphrase = await judge.support('Fully charged, the battery of the rover lasts nine hours.', [
    BATTERY,
  ]);
  const other = await judge.support('The arm of the crane is painted by volunteers in spring.', [BATTERY]);
  expect(quoted.verdict).toBe('quoted');
  expect(paraphrase.chance).toBeGreaterThan(other.chance + 0.3);
  expect(other.verdict).toBe('unsupported');
  expect(BATTERY.text.slice(paraphrase.evidence?.start, paraphrase.evidence?.end)).toContain('nine hours');
});

test('a number or a name that the source does not hold is never outvoted', async () => {
  const number = await judge.support('The lithium battery of the rover lasts 12 hours on a full charge.', [
    BATTERY,
  ]);
  expect(number.objections).toContain('number');
  expect(['weak', 'unsupported']).toContain(number.verdict);
  const claim = 'The rover of Heidelberg carries a lithium battery.';
  const name = await judge.support(claim, [BATTERY]);
  expect(name.objections).toContain('name');
  expect(name.unsupportedSpans.map(({ start, end }) => claim.slice(start, end))).toContain('Heidelberg');
});

test('the words of a passage that speaks of what is asked are nearer than those of another', async () => {
  const other = { ...BATTERY, text: 'The arm of the crane is painted by volunteers in spring.' };
  const question = 'How long does the accumulator last?';
  const [about = 0, beside = 0] = await judge.nearness(question, [BATTERY, other], () => 1);
  expect(about).toBeGreaterThan(beside + 0.1);
  const [lasting = 0] = await judge.nearness(question, [BATTERY], (term) => Number(term === 'last'));
  expect(lasting).toBeGreaterThan(about);
});

test('passages may bear a sentence out together', async () => {
  const more: JudgedPassage = { text: 'The rover was built in Graz by students.', title: '', headings: [] };
  const claim = 'The rover, built in Graz, carries a lithium battery.';
  const both = await judge.support(claim, [BATTERY, more]);
  expect(both.objections).toEqual([]);
  expect((await judge.support(claim, [BATTERY])).objections).toContain('name');
});

test('a part of a passage that answers is likelier than one about something else', async () => {
  const passage: JudgedPassage = {
    text: 'The battery lasts nine hours on a full charge. Students painted the hull blue in spring.',
    title: 'Rover',
    headings: [],
  };
  const end = passage.text.indexOf('.') + 1;
  const units: Unit[] = [
    { kind: 'sentence', passage, start: 0, end, leadIn: null },
    { kind: 'sentence', passage, start: end + 1, end: passage.text.length, leadIn: null },
  ];
  const [duration = 0, hull = 0] = await judge.answers('How long does the battery of the rover last?', units);
  expect(duration).toBeGreaterThan(hull + 0.1);
  const [off = 1] = await judge.answers('Who won the election in Peru?', units);
  expect(off).toBeLessThan(duration / 2);
  expect(await judge.answers('Who won?', [])).toEqual([]);
});

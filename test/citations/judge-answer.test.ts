import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMiniLmEmbedder } from '../../src/adapters/onnx/minilm-embedder.ts';
import { judgeAnswer, type LookUpSupport } from '../../src/citations/check-answer.ts';
import { checkedSentenceSchema } from '../../src/domain/checked-sentence.ts';
import { type AnswerJudge, createJudge } from '../../src/judge/answer-judge.ts';
import type { Embedder } from '../../src/ports/embedder.ts';
import { chunk } from '../domain/arbitraries.ts';
import { modelLocation } from '../support/model-weights.ts';
import { registerOf } from './sources.ts';

let embedder: Embedder;
let judge: AnswerJudge;
const lookUp: LookUpSupport = ({ text, chunks }) => judge.checkSupport(text, chunks);

beforeAll(async () => {
  const model = await createMiniLmEmbedder({ location: modelLocation() });
  embedder = model;
  judge = createJudge(model);
});

afterAll(() => embedder.close());

const BATTERY = chunk({
  chunkId: 'battery',
  text: 'The rover carries a lithium battery. It lasts nine hours on a full charge. Swap it when the lamp turns red.',
  title: 'Rover',
  headings: ['Power'],
});
const HULL = chunk({
  chunkId: 'hull',
  text: 'Students painted the hull blue. It was built in Graz.',
  title: 'Hull',
  headings: [],
});
const register = registerOf(BATTERY, HULL);

test('returns offsets, probability and evidence for each cited sentence', async () => {
  const { answer, sentences, citations, checkedBy } = await judgeAnswer(
    'It lasts nine hours on a full charge [1]. The battery of the rover holds for nine hours when it is fully charged [1].\n\nThe arm of the crane sings opera in spring [2]. So be it.',
    register,
    lookUp,
  );
  expect(checkedBy).toBe('judge');
  for (const sentence of sentences) checkedSentenceSchema.parse(sentence);
  expect(sentences.map(({ verdict }) => verdict)).toEqual(['quoted', 'supported', 'unsupported', null]);
  const [, paraphrase, invented] = sentences;
  expect(answer.slice(paraphrase?.start, paraphrase?.end)).toMatch(/^The battery of .* charged \[1\]\.$/);
  expect(paraphrase?.probability).toBeGreaterThan(invented?.probability ?? 1);
  expect(paraphrase?.evidence).toMatchObject({
    chunkId: 'battery',
    text: 'It lasts nine hours on a full charge.',
  });
  expect(citations.map(({ marker, verdict }) => [marker, verdict])).toEqual([
    ['1', 'quoted'],
    ['2', 'unsupported'],
  ]);
});

test('maps unsupported spans to the answer, past links, markers and line breaks', async () => {
  const { answer, sentences } = await judgeAnswer(
    'First, this. The rover of [Heidelberg](https://example.com), built by [1] students,\ncarries ( [1] ) a  zeppelin [1].',
    register,
    lookUp,
  );
  const words = sentences.flatMap(({ unsupportedSpans }) =>
    unsupportedSpans.map(({ start, end }) => answer.slice(start, end)),
  );
  expect(words).toContain('Heidelberg');
  expect(words).toContain('zeppelin');
  expect(words).not.toContain('rover');
});

test('never supports a missing number or name, and lets sources support a sentence together', async () => {
  const { sentences, citations } = await judgeAnswer(
    'The lithium battery of the rover lasts 12 hours on a full charge [1]. The rover, built in Graz, carries a lithium battery [1][2].',
    register,
    lookUp,
  );
  expect(['weak', 'unsupported']).toContain(sentences[0]?.verdict);
  expect(sentences[1]?.verdict).toBe('supported');
  expect(citations.map(({ verdict }) => verdict)).not.toContain('supported');
});

test('looks up equal sentences once, and checks very long answers by words', async () => {
  let asked = 0;
  const counting: LookUpSupport = (lookup) => {
    asked += 1;
    return lookUp(lookup);
  };
  await judgeAnswer('It lasts nine hours [1]. It lasts nine hours [1].', register, counting);
  expect(asked).toBe(1);
  const long = await judgeAnswer(`${'word '.repeat(4000)} [1].`, register, counting);
  expect([long.checkedBy, asked]).toEqual(['words', 1]);
});

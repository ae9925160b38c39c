import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMiniLmEmbedder } from '../../src/adapters/onnx/minilm-embedder.ts';
import { type ApartJudge, startJudgeThread } from '../../src/app/judge-thread.ts';
import { createJudge, type FoundPassage } from '../../src/judge/create-judge.ts';
import type { Embedder } from '../../src/ports/embedder.ts';
import type { TokenEncoder } from '../../src/ports/token-encoder.ts';
import { passageUnits } from '../../src/text/passage-units.ts';
import { modelLocation } from '../support/model-weights.ts';

const ZEBRAS = {
  text: 'A zebra is a striped horse. Zebras live in Africa. They eat 40 kilograms of grass.',
  title: 'Zebras',
  headings: [],
};
const OWLS = { text: 'An owl hunts at night. Owls see well in the dark.', title: 'Owls', headings: [] };
const QUESTION = 'What is a zebra?';

let model: Embedder & TokenEncoder;
let apart: ApartJudge;

beforeAll(async () => {
  model = await createMiniLmEmbedder({ location: modelLocation() });
  apart = startJudgeThread(model);
});

afterAll(async () => {
  await apart.close();
  await model.close();
});

test('the judge in a thread of its own says what the one here says, about the same passages', async () => {
  const here = createJudge(model);
  const claim = 'Zebras live in Africa and eat 50 kilograms of grass.';
  const support = await apart.support(claim, [OWLS, ZEBRAS]);
  expect(support).toEqual(await here.support(claim, [OWLS, ZEBRAS]));
  expect(support.evidence?.passage).toBe(ZEBRAS);

  const found = [ZEBRAS, OWLS].map((passage, index): FoundPassage => {
    const units = passageUnits(passage.text).map((unit) => ({ ...unit, passage }));
    return { passage, rank: index + 1, score: 0.5, units };
  });
  const units = found.flatMap((each) => each.units);
  expect(await apart.passages(QUESTION, found)).toEqual(await here.passages(QUESTION, found));
  expect(await apart.answers(QUESTION, units)).toEqual(await here.answers(QUESTION, units));
});

test('what was read ahead is not encoded again', async () => {
  const encoded: string[] = [];
  const judge = startJudgeThread({
    ...model,
    encodeTokens(texts) {
      encoded.push(...texts);
      return model.encodeTokens(texts);
    },
  });
  await judge.read([ZEBRAS]);
  await judge.support('A zebra is a horse.', [ZEBRAS]);
  expect(encoded).toEqual([ZEBRAS.text, 'A zebra is a horse.']);
  await judge.close();
});

test('an encoder that fails is told, a raised signal is heard, and what a closed thread was asked fails', async () => {
  let works = false;
  const judge = startJudgeThread({
    ...model,
    async encodeTokens(texts) {
      if (!works) throw new Error('no weights');
      return model.encodeTokens(texts);
    },
  });
  await expect(judge.read([ZEBRAS])).rejects.toThrow('no weights');
  await expect(judge.read([ZEBRAS], AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
  const unanswered = expect(judge.support('A zebra.', [ZEBRAS])).rejects.toThrow('ended early');
  await judge.close();
  await unanswered;
  works = true;
  // Whoever asks next has another thread.
  expect(await judge.support('A zebra is a striped horse.', [ZEBRAS])).toMatchObject({ verdict: 'quoted' });
  await judge.close();
});

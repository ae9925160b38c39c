import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMiniLmEmbedder } from '../../src/adapters/onnx/minilm-embedder.ts';
import { startWorkerJudge, type WorkerJudge } from '../../src/app/worker-judge.ts';
import { createJudge, type PassageCandidate } from '../../src/judge/answer-judge.ts';
import type { Embedder } from '../../src/ports/embedder.ts';
import type { TokenEncoder } from '../../src/ports/token-encoder.ts';
import { splitPassageUnits } from '../../src/text/passage-units.ts';
import { modelLocation } from '../support/model-weights.ts';

const ZEBRAS = {
  text: 'A zebra is a striped horse. Zebras live in Africa. They eat 40 kilograms of grass.',
  title: 'Zebras',
  headings: [],
};
const OWLS = { text: 'An owl hunts at night. Owls see well in the dark.', title: 'Owls', headings: [] };
const QUESTION = 'What is a zebra?';

let model: Embedder & TokenEncoder;
let workerJudge: WorkerJudge;

beforeAll(async () => {
  model = await createMiniLmEmbedder({ location: modelLocation() });
  workerJudge = startWorkerJudge(model);
});

afterAll(async () => {
  await workerJudge.close();
  await model.close();
});

test('returns what a judge in the main thread returns, for the same passages', async () => {
  const here = createJudge(model);
  const claim = 'Zebras live in Africa and eat 50 kilograms of grass.';
  const support = await workerJudge.checkSupport(claim, [OWLS, ZEBRAS]);
  expect(support).toEqual(await here.checkSupport(claim, [OWLS, ZEBRAS]));
  expect(support.evidence?.passage).toBe(ZEBRAS);

  const found = [ZEBRAS, OWLS].map(
    (passage, index): PassageCandidate => ({
      passage,
      rank: index + 1,
      score: 0.5,
      units: splitPassageUnits(passage.text),
    }),
  );
  expect(await workerJudge.ratePassages(QUESTION, found)).toEqual(await here.ratePassages(QUESTION, found));
});

test('does not encode a text twice', async () => {
  const encoded: string[] = [];
  const judge = startWorkerJudge({
    ...model,
    encodeTokens(texts) {
      encoded.push(...texts);
      return model.encodeTokens(texts);
    },
  });
  await judge.encode([ZEBRAS]);
  await judge.checkSupport('A zebra is a horse.', [ZEBRAS]);
  expect(encoded).toEqual([ZEBRAS.text, 'A zebra is a horse.']);
  await judge.close();
});

test('reports errors of the encoder, aborts, fails the calls of a closed worker and starts another one', async () => {
  let works = false;
  const judge = startWorkerJudge({
    ...model,
    async encodeTokens(texts) {
      if (!works) throw new Error('no weights');
      return model.encodeTokens(texts);
    },
  });
  await expect(judge.encode([ZEBRAS])).rejects.toThrow('no weights');
  await expect(judge.encode([ZEBRAS], AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
  const unanswered = expect(judge.checkSupport('A zebra.', [ZEBRAS])).rejects.toThrow('ended early');
  await judge.close();
  await unanswered;
  works = true;
  expect(await judge.checkSupport('A zebra is a striped horse.', [ZEBRAS])).toMatchObject({
    verdict: 'quoted',
  });
  await judge.close();
});

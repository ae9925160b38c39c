import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMiniLmEmbedder } from '../../src/adapters/onnx/minilm-embedder.ts';
import { createTurnJudge } from '../../src/agent/turn-judge.ts';
import { createJudge } from '../../src/judge/answer-judge.ts';
import type { Embedder } from '../../src/ports/embedder.ts';
import type { TokenEncoder } from '../../src/ports/token-encoder.ts';
import { registerOf } from '../citations/sources.ts';
import { chunk } from '../domain/arbitraries.ts';
import { modelLocation } from '../support/model-weights.ts';
import { createSmallLibrary } from '../support/small-library.ts';
import { askAndWait, createTestAgent } from '../support/test-agent.ts';

const BOOK = {
  'animals/Zebras': 'A zebra is a striped horse. Zebras live in Africa. They eat 40 kilograms of grass.',
  'animals/Owls': 'An owl hunts zebra finches at night. Owls see well in the dark.',
};

let model: Embedder & TokenEncoder;

beforeAll(async () => {
  model = await createMiniLmEmbedder({ location: modelLocation() });
});

afterAll(() => model.close());

const search = (query: string) =>
  functionCall('search_docs', { query, top_k: null, module: null }, { callId: `call-${query}` });

/** Asks once, and returns the encoded texts too. */
async function asked(question: string, answer: string, encoder: Pick<TokenEncoder, 'encodeTokens'> = model) {
  const encoded: string[] = [];
  const script = new ScriptedModel([
    [search('zebra')],
    [search('what zebras are')],
    [assistantMessage(answer)],
  ]);
  const agent = createTestAgent(await createSmallLibrary(BOOK), script, {
    encoder: {
      ...model,
      encodeTokens(texts, signal) {
        encoded.push(...texts);
        return encoder.encodeTokens(texts, signal);
      },
    },
  });
  const { turn } = await askAndWait(await agent.startSession(), question);
  if (turn === null) throw new Error('there was no turn');
  return { response: turn.response, encoded };
}

test('distinguishes an answer from a mere quote, and reads each passage once', async () => {
  const answers = await asked('What is a zebra?', 'A zebra is a striped horse [1].');
  expect(answers.response).toMatchObject({
    grounded: true,
    checkedBy: 'judge',
    citations: [{ verdict: 'quoted' }],
    sentences: [{ verdict: 'quoted', evidence: { text: 'A zebra is a striped horse.' } }],
  });
  expect(answers.encoded.filter((text) => text.includes('striped horse. Zebras'))).toHaveLength(1);
  expect(answers.encoded).not.toContain('A zebra is a striped horse.');
  const evades = await asked('When was the first zebra crossing painted?', 'Zebras live in Africa [1].');
  expect(evades.response).toMatchObject({ grounded: true, confidence: 'low' });
  expect(evades.response.answerProbability).toBeLessThan(answers.response.answerProbability ?? 0);
});

test('falls back to checking by words if the encoder fails', async () => {
  const { response } = await asked('What is a zebra?', 'Zebras are striped horses [1].', {
    encodeTokens: async () => {
      throw new Error('out of memory');
    },
  });
  expect(response).toMatchObject({ grounded: true, checkedBy: 'words', confidence: 'low' });
  expect(response.answerProbability).toBeNull();
});

test('judges sentences once, while the answer is written, with the same result as afterwards', async () => {
  const zebras = chunk({ text: BOOK['animals/Zebras'] });
  const sources = registerOf(zebras);
  const encoded: string[] = [];
  const encoder: TokenEncoder = {
    ...model,
    encodeTokens(texts, signal) {
      encoded.push(...texts);
      return model.encodeTokens(texts, signal);
    },
  };
  const { signal } = new AbortController();
  const along = createTurnJudge(async () => createJudge(encoder), signal);
  along.readAhead([zebras], ['What is a zebra?']);
  const first = 'A zebra is a horse with stripes [1].';
  const answer = `${first} Zebras live in Heidelberg and in many other cities of Europe [1].`;
  along.judgeAlong(`${first} Zebras live in Heidelberg and in`, sources);
  await expect.poll(() => encoded).toContain('A zebra is a horse with stripes.');
  expect(encoded).toContain('What is a zebra?');
  const checked = await along.check(answer, sources);
  expect(encoded.filter((text) => text === 'A zebra is a horse with stripes.')).toHaveLength(1);
  expect(encoded.some((text) => text.endsWith('Heidelberg and in'))).toBe(false);
  const afterwards = await createTurnJudge(async () => createJudge(encoder), signal).check(answer, sources);
  expect(checked).toEqual(afterwards);
  expect(checked.sentences.map(({ unsupportedSpans }) => unsupportedSpans.length > 0)).toEqual([false, true]);
});

import { parseArgs } from 'node:util';
import { type DocumentQuestion, holdsAnswer, readQuestions } from '../scripts/fit/question-sets.ts';
import type { AgentResponse } from '../src/domain/agent-response.ts';
import { ensureTinyLlama } from '../test/support/tiny-llama.ts';
import { createAskedProgram, questionsAndDocuments } from './support/ask-program.ts';
import { alignColumns, describeMachine, formatMachine, writeResults } from './support/results.ts';

/*
 * What a model of a GGUF file adds to the extractive one, on the same questions and documents: with tools, and with the
 * passages put before it. `npm run bench:local-model -- [--limit 12] [--model file.gguf] [--max-tokens n] [--show]
 * [questions.jsonl documents]`; TinyLlama is fetched unless a model is named. Of many questions as many as the limit are taken, at equal distances.
 */

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    limit: { type: 'string', default: '12' },
    model: { type: 'string' },
    'max-tokens': { type: 'string' },
    show: { type: 'boolean', default: false },
  },
});
const { file, documents } = questionsAndDocuments(positionals);

interface Asked {
  question: DocumentQuestion;
  response: AgentResponse;
}

const model = values.model ?? (await ensureTinyLlama());
const limits = values['max-tokens'] === undefined ? [] : ['--max-tokens', values['max-tokens']];
const ARMS: Record<string, string[]> = {
  extractive: [],
  'model, tools': ['--model', model, ...limits],
  'model, always': ['--model', model, '--policy', 'always', ...limits],
};
const machine = describeMachine();
console.log(formatMachine(machine));
const program = await createAskedProgram(documents);
try {
  const questions = spread(readQuestions(file), Number(values.limit));
  console.log(`${questions.length} questions: ${questions.map(({ id }) => id).join(', ')}\n`);
  const arms = Object.keys(ARMS).map((name) => ({ name, asked: [] as Asked[] }));
  for (const question of questions) {
    for (const { name, asked } of arms) {
      const response = await program.ask([...question.history, question.question], ARMS[name]);
      asked.push({ question, response });
      if (values.show) show(name, { question, response });
    }
    // What is measured so far is kept: this takes long on a small machine.
    await writeResults('local-model.json', { machine, file, model, arms: arms.map(summarize) });
  }
  const summaries = arms.map(summarize);
  const lines = summaries.map((summary) => Object.values(summary).map(String));
  console.log(alignColumns([Object.keys(summaries[0] ?? {}), ...lines], [1, 2, 3, 4, 5, 6, 7, 8]));
} finally {
  program.close();
}

/** The same ones for the same limit. */
function spread<T>(all: readonly T[], limit: number): T[] {
  const taken = Math.min(limit, all.length);
  return Array.from({ length: taken }, (_, index) => all[Math.floor((index * all.length) / taken)] as T);
}

function summarize({ name, asked }: { name: string; asked: readonly Asked[] }) {
  const count = (test: (one: Asked) => boolean) => asked.filter(test).length;
  const share = (part: (one: Asked) => boolean, whole: (one: Asked) => boolean) =>
    `${count((one) => part(one) && whole(one))} of ${count(whole)}`;
  const answered = ({ response }: Asked) => response.outcome === 'answer';
  const answerable = ({ question }: Asked) => question.kind !== 'unanswerable';
  const holds = ({ question, response }: Asked) =>
    response.outcome !== 'none' && holdsAnswer(question, response.answer);
  const verdicts = asked.flatMap(({ response }) => response.sentences.map(({ verdict }) => verdict));
  const judged = ['quoted', 'supported', 'weak', 'unsupported', null].map(
    (verdict) => verdicts.filter((each) => each === verdict).length,
  );
  const times = asked.map(({ response }) => response.totalTimeMs).toSorted((a, b) => a - b);
  return {
    arm: name,
    'shown right': share(holds, answerable),
    'answers right': share(holds, answered),
    'unanswerable answered': share(answered, (one) => !answerable(one)),
    searched: share(
      ({ response }) => response.retrievalPerformed,
      () => true,
    ),
    grounded: share(
      ({ response }) => response.grounded,
      () => true,
    ),
    cut: count(({ response }) => response.finishReason === 'length'),
    'sentences quoted/supported/weak/unsupported/uncited': judged.join('/'),
    'median s': ((times[times.length >>> 1] ?? 0) / 1000).toFixed(1),
  };
}

function show(arm: string, { question, response }: Asked): void {
  const held = holdsAnswer(question, response.answer) ? 'holds it' : 'does not hold it';
  console.log(`## ${question.id}, ${arm} (${response.outcome}, ${held}, ${response.finishReason})`);
  console.log(`${question.question}\n\n${response.answer}\n`);
}

import { parseArgs } from 'node:util';
import type { AgentResponse } from '../src/domain/agent-response.ts';
import { type DocumentQuestion, holdsAnswer, readQuestions } from './support/document-questions.ts';
import { createProgramRunner, resolveQuestionFiles } from './support/program-runner.ts';
import { alignColumns, describeMachine, formatMachine, writeResults } from './support/results.ts';

/*
 * Asks questions about documentation with the program: ingests the documents, then runs `ask --json` for each question,
 * after its earlier questions in the same session. `npm run bench:answers [questions.jsonl documents]`.
 */

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { show: { type: 'boolean', default: false } },
});
const { file, documents } = resolveQuestionFiles(positionals);

interface Asked {
  question: DocumentQuestion;
  response: AgentResponse;
  holds: boolean;
}

/** Possible thresholds of an answer. */
const THRESHOLDS = [0.36, 0.4, 0.45, 0.5, 0.55, 0.6];

const machine = describeMachine();
console.log(formatMachine(machine));
const program = await createProgramRunner(documents);
try {
  const asked: Asked[] = [];
  for (const question of readQuestions(file)) {
    const response = await program.ask([...question.history, question.question]);
    const holds = response.outcome !== 'none' && holdsAnswer(question, response.answer);
    asked.push({ question, response, holds });
  }
  const result = summarize(asked);
  if (values.show) show(asked);
  console.log(`\nWritten to ${await writeResults('answers.json', { machine, file, ...result })}`);
} finally {
  program.close();
}

function summarize(asked: readonly Asked[]) {
  const count = (list: readonly Asked[], test: (one: Asked) => boolean) => list.filter(test).length;
  const kinds = [...new Set(asked.map(({ question }) => question.kind))].map((kind) => {
    const ofKind = asked.filter(({ question }) => question.kind === kind);
    const cell = (outcome: string, holds: boolean) =>
      count(ofKind, (one) => one.response.outcome === outcome && one.holds === holds);
    return [
      kind,
      ofKind.length,
      cell('answer', true),
      cell('answer', false),
      cell('passages', true),
      cell('passages', false),
      count(ofKind, ({ response }) => response.outcome === 'none'),
    ].map(String);
  });
  const header = ['kind', 'questions', 'answered right', 'wrong', 'passages with it', 'without', 'none'];
  console.log(`\n${alignColumns([header, ...kinds], [1, 2, 3, 4, 5, 6])}`);
  const unanswerable = asked.filter(({ question }) => question.kind === 'unanswerable');
  const answerable = asked.filter((one) => !unanswerable.includes(one));
  const answered = asked.filter(({ response }) => response.outcome === 'answer');
  const times = asked.map(({ response }) => response.totalTimeMs).sort((a, b) => a - b);
  const result = {
    answerable: answerable.length,
    shownRight: count(answerable, ({ holds }) => holds),
    answeredRight: count(answered, ({ holds }) => holds),
    answered: answered.length,
    unanswerable: unanswerable.length,
    unanswerableAnswered: count(unanswerable, ({ response }) => response.outcome === 'answer'),
    medianMs: times[times.length >>> 1] ?? 0,
  };
  console.log(`
shown right             ${result.shownRight} of ${result.answerable} answerable, ${result.answeredRight} of them as an answer
answers that are right  ${result.answeredRight} of ${result.answered}
unanswerable answered   ${result.unanswerableAnswered} of ${result.unanswerable}
median turn             ${result.medianMs.toFixed(0)} ms, one process per question`);
  const thresholds = THRESHOLDS.map((score) => {
    const above = asked.filter(({ response }) => bestScore(response) >= score);
    const right = count(above, ({ holds }) => holds);
    const wrong = count(above, ({ question }) => question.kind === 'unanswerable');
    return [score.toFixed(2), `${right} of ${above.length}`, `${wrong} of ${unanswerable.length}`];
  });
  const columns = ['best score from', 'right text shown', 'unanswerable'];
  console.log(`\n${alignColumns([columns, ...thresholds], [1, 2])}`);
  return result;
}

/** The score of the best passage that is shown. */
function bestScore({ citations }: AgentResponse): number {
  return Math.max(0, ...citations.map(({ score }) => score ?? 0));
}

function show(asked: readonly Asked[]): void {
  for (const { question, response, holds } of asked) {
    const verdict = `${response.outcome}${holds ? '' : ' without it'}, ${bestScore(response).toFixed(2)}`;
    console.log(`\n## ${question.id} (${verdict})\n${question.question}\n\n${response.answer}`);
  }
}

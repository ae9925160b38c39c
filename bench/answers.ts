import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type DocumentQuestion, holdsAnswer, readQuestions } from '../scripts/fit/question-sets.ts';
import { type AgentResponse, agentResponseSchema } from '../src/domain/agent-response.ts';
import { alignColumns, describeMachine, formatMachine, writeResults } from './support/results.ts';
import { DATA } from './support/retrieval-set.ts';

/*
 * Questions on documentation through the program as a person runs it: the documents are ingested, each question is asked
 * with `ask --json`, what was said before it in the same session. `npm run bench:answers [questions.jsonl documents]`.
 */

const PROGRAM = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const COLLECTION = 'asked';
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { show: { type: 'boolean', default: false } },
});
const [file = `${DATA}/questions/fastapi.jsonl`, documents = `${DATA}/questions/fastapi`] = positionals;
if (!existsSync(file) || !existsSync(documents)) {
  console.log(`Not measured: there is no ${existsSync(file) ? documents : file}.`);
  process.exit(0);
}

interface Asked {
  question: DocumentQuestion;
  response: AgentResponse;
  holds: boolean;
}

const machine = describeMachine();
console.log(formatMachine(machine));
const home = mkdtempSync(join(tmpdir(), 'answers-'));
try {
  await run(['ingest', documents, '--collection', COLLECTION]);
  const asked: Asked[] = [];
  for (const question of readQuestions(file)) {
    const response = await ask([...question.history, question.question]);
    const holds = response.outcome !== 'none' && holdsAnswer(question, response.answer);
    asked.push({ question, response, holds });
  }
  const result = summarize(asked);
  if (values.show) show(asked);
  console.log(`\nWritten to ${await writeResults('answers.json', { machine, file, ...result })}`);
} finally {
  rmSync(home, { recursive: true, force: true });
}

/** The last of some questions of one conversation. */
async function ask(questions: readonly string[]): Promise<AgentResponse> {
  let session: string[] = [];
  let last: AgentResponse | undefined;
  for (const question of questions) {
    const printed = await run(['ask', '--json', '--collection', COLLECTION, ...session, '-'], question);
    last = agentResponseSchema.parse(JSON.parse(printed));
    session = ['--session', last.sessionId];
  }
  return last as AgentResponse;
}

function run(args: string[], input = ''): Promise<string> {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    env: { ...process.env, CITELOOP_HOME: home },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.end(input);
  let printed = '';
  child.stdout.on('data', (chunk) => {
    printed += chunk;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) =>
      code === 0 ? resolve(printed) : reject(new Error(`${args[0]} ended with ${code}`)),
    );
  });
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
  const confident = answered.filter(({ response }) => response.confidence === 'high');
  const times = asked.map(({ response }) => response.totalTimeMs).sort((a, b) => a - b);
  const result = {
    answerable: answerable.length,
    shownRight: count(answerable, ({ holds }) => holds),
    answeredRight: count(answered, ({ holds }) => holds),
    answered: answered.length,
    unanswerable: unanswerable.length,
    unanswerableAnswered: count(unanswerable, ({ response }) => response.outcome === 'answer'),
    confident: confident.length,
    confidentRight: count(confident, ({ holds }) => holds),
    medianMs: times[times.length >>> 1] ?? 0,
  };
  console.log(`
shown right             ${result.shownRight} of ${result.answerable} answerable, ${result.answeredRight} of them as an answer
answers that are right  ${result.answeredRight} of ${result.answered}
unanswerable answered   ${result.unanswerableAnswered} of ${result.unanswerable}
confidence high, right  ${result.confidentRight} of ${result.confident}
median turn             ${result.medianMs.toFixed(0)} ms, each in a process of its own`);
  return result;
}

function show(asked: readonly Asked[]): void {
  for (const { question, response, holds } of asked) {
    const verdict = `${response.outcome}${holds ? '' : ' without it'}, ${response.answerProbability?.toFixed(2) ?? '-'}`;
    console.log(`\n## ${question.id} (${verdict})\n${question.question}\n\n${response.answer}`);
  }
}

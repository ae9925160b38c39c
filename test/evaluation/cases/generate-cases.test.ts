import { expect, test } from 'vitest';
import { evaluationCaseSchema } from '../../../src/evaluation/cases/evaluation-case.ts';
import {
  asCase,
  type GeneratedKind,
  generateCandidates,
  type SourceChunk,
} from '../../../src/evaluation/cases/generate-cases.ts';

const chunk = (title: string, text: string, ...headings: string[]): SourceChunk => ({
  title,
  url: `https://docs.test/${title}.md`,
  headings,
  text,
});
const CHUNKS = [
  chunk(
    'valves',
    'A valve is a device that opens and closes a pipe. It regulates the flow of the water. The status is a number of the moment.',
  ),
  chunk('frames', 'A classic CAN frame carries at most 8 data bytes. The following table uses 3 rows here.'),
  chunk('install', '```bash\ncd tools\n$ tool install --all   # everything\n```', 'Installing'),
  chunk('ports', '| Service | Port |\n|---|---|\n| web | 80 |\n| `mail` | 25 |', 'Ports'),
];
const of = (kind: GeneratedKind) => generateCandidates(CHUNKS, 1).filter((one) => one.kind === kind);

test('definitions, numbers, commands and tables become questions with the words that answer them', () => {
  expect(of('definition').map(({ question, span }) => [question, span])).toEqual([
    ['What is a valve?', 'a device that opens and closes'],
  ]);
  expect(of('number').map(({ question, span }) => [question, span])).toEqual([
    ['How many data bytes does a classic CAN frame carry?', '8 data bytes'],
  ]);
  expect(of('command')).toMatchObject([
    { question: 'Which command is given under "Installing"?', span: 'tool install --all' },
  ]);
  expect(of('table').map(({ question, span }) => [question, span])).toEqual([
    ['What is given as "Port" for "web"?', '80'],
    ['What is given as "Port" for "mail"?', '25'],
  ]);
});

test('a follow-up refers to what was just said, and is understood without it', () => {
  const [next] = of('follow-up');
  expect(next).toMatchObject({
    question: 'What does it regulate?',
    standalone: 'What does a valve regulate?',
    history: { user: 'What is a valve?' },
    span: 'the flow of the water',
  });
});

test('a question whose document is taken away has no answer, and every case is one', () => {
  const [gone] = of('unanswerable');
  expect(gone?.without).not.toContain(gone?.chunk.title);
  const cases = generateCandidates(CHUNKS, 1).map((one, index) => asCase(one, index + 1));
  for (const item of cases) expect(evaluationCaseSchema.parse(item)).toEqual(item);
  expect(cases.every(({ tags }) => tags?.[0] === 'generated')).toBe(true);
  const unanswerable = cases.find(({ answerable }) => answerable === false);
  expect(unanswerable?.filter?.title).toEqual(expect.arrayContaining(['ports']));
  expect(unanswerable?.expectedPhrases).toBeUndefined();
});

test('the same seed gives the same questions', () => {
  const questions = (seed: number) => generateCandidates(CHUNKS, seed).map(({ question }) => question);
  expect(questions(3)).toEqual(questions(3));
});

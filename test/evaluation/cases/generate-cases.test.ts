import { expect, test } from 'vitest';
import { evaluationCaseSchema } from '../../../src/evaluation/cases/evaluation-case.ts';
import {
  asCase,
  type GeneratedKind,
  generateCandidates,
  type SourceChunk,
} from '../../../src/evaluation/cases/generate-cases.ts';
import { actionOf } from '../../../src/evaluation/cases/word-questions.ts';

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
  chunk('install', '```bash\ncd tools\ntool install --all   # everything\n```', 'Installing the tool'),
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
    { question: 'What is the command to install the tool?', span: 'tool install --all' },
  ]);
  expect(of('table').map(({ question, span }) => [question, span])).toEqual([
    ['What is the port for web?', '80'],
    ['What is the port for mail?', '25'],
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

test.each([
  ['a heading that names no action', chunk('a', '```bash\ntool install all\n```', 'LinearRouter')],
  ['several commands', chunk('a', '```bash\ntool install all\ntool start now\n```', 'Installing the tool')],
  [
    'numbers that a program printed',
    chunk('a', '```bash\nrouter 3.81 µs/iter\n```', 'Running the benchmark'),
  ],
  [
    'the flag of a line that goes on',
    chunk('a', '```bash\naws deploy \\\n  layer:1 x\n```', 'Using a layer'),
  ],
  ['a column that is a name', chunk('a', '| Key | Linux |\n|---|---|\n| sys_platform | linux2 |', 'Keys')],
  ['a cell of signs', chunk('a', '| Key | Default |\n|---|---|\n| `cookie.path` | `/` |', 'Keys')],
  ['a row that answers itself', chunk('a', '| Key | Value |\n|---|---|\n| `--all` | `--all` |', 'Keys')],
  ['a clause', chunk('a', 'While unsafe is the closest to what was there before, it may surprise people.')],
  ['an opinion', chunk('a', 'The build backend is a great choice for nearly everybody out there.')],
  [
    'a row under a heading',
    chunk('a', '| cdnjs | Cloudflare Workers and more than that. |', 'Who is using it?'),
  ],
])('no question is made of %s', (_, one) => {
  expect(generateCandidates([one], 1)).toEqual([]);
});

test.each([
  ['Uninstalling a package', 'uninstall a package'],
  ['3. Deploy to the cloud', 'deploy to the cloud'],
  ['How to set up `tool`', 'set up `tool`'],
  ['Setting Permission-Policy', 'set Permission-Policy'],
  ['Using fire()', 'use fire()'],
  ['Updating your version', 'update my version'],
  ['Logging Details', null],
  ['Hugging Face support', null],
  ['Getting started', null],
  ['Installing', null],
])('the heading "%s" says how to %s', (heading, action) => {
  expect(actionOf(heading)).toBe(action);
});

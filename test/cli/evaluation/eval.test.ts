import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseCases } from '../../../src/evaluation/cases/parse-cases.ts';
import { type ReportData, reportDataSchema } from '../../../src/evaluation/report/report-data.ts';
import { type CliOptions, runCli } from '../../support/run-cli.ts';
import { runInProcess } from '../../support/run-in-process.ts';

/** A home directory with two documents that all tests share, in order. */
const home = mkdtempSync(join(tmpdir(), 'citeloop-eval-'));
const run = (args: string[]) => runInProcess([...args, '--collection', 'robots'], { home });
/** As a separate process. */
const start = (args: string[], options: Partial<CliOptions> = {}) =>
  runCli([...args, '--collection', 'robots'], { home, ...options });
const inHome = (name: string) => join(home, name);

const CASES = [
  {
    id: 'node',
    question: 'What is a node?',
    expectedSources: ['docs/nodes.md'],
    expectedPhrases: ['performs computation'],
    answerable: true,
    needsRetrieval: true,
    tags: ['plain'],
  },
  {
    id: 'topic',
    question: 'What is a topic?',
    expectedSources: ['docs/topics.md'],
    expectedPhrases: ['named bus'],
    answerable: true,
    needsRetrieval: true,
    tags: ['plain'],
  },
  {
    id: 'painter',
    question: 'Who painted the Mona Lisa?',
    answerable: false,
    needsRetrieval: true,
    tags: ['off-topic'],
  },
  { id: 'hello', question: 'Hello!', needsRetrieval: false, tags: ['chit-chat'] },
];

beforeAll(async () => {
  await mkdir(inHome('docs'));
  await writeFile(
    inHome('docs/nodes.md'),
    '# Nodes\n\nA node is a process that performs computation. Each node publishes at 30 Hz.\n',
  );
  await writeFile(
    inHome('docs/topics.md'),
    '# Topics\n\nA topic is a named bus over which nodes exchange messages. Each topic has one type.\n',
  );
  await writeFile(inHome('cases.jsonl'), CASES.map((item) => `${JSON.stringify(item)}\n`).join(''));
  expect((await run(['ingest', 'docs'])).code).toBe(0);
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

const reportIn = (name: string): ReportData =>
  reportDataSchema.parse(JSON.parse(readFileSync(inHome(name), 'utf8')));

test('evaluates cases and writes every output', async () => {
  const { code, stdout } = await start([
    'eval',
    'cases.jsonl',
    '--json',
    'base.json',
    '--html',
    'out/page.html',
  ]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^“tool” answers 3 of 3 questions correctly/);
  expect(stdout).toContain('Citation precision');
  expect(stdout).toContain('No data:\n');
  const report = reportIn('base.json');
  expect(report).toMatchObject({
    kind: 'evaluation',
    header: { cases: 4, models: ['offline'], collection: { name: 'robots', documents: 2 } },
  });
  expect(report.arms[0]?.metrics['decision.over']).toMatchObject({ value: 0, n: 1 });
  expect(readFileSync(inHome('out/page.html'), 'utf8')).toContain('“tool” answers 3 of 3');
});

test('prints JSON only with --json without a file', async () => {
  const { code, stdout } = await run(['eval', 'cases.jsonl', '--tag', 'plain', '--json']);
  expect(code).toBe(0);
  expect(reportDataSchema.parse(JSON.parse(stdout)).cases.map(({ id }) => id)).toEqual(['node', 'topic']);
});

test('applies custom checks to arms with other prompts and settings', async () => {
  await writeFile(inHome('checks.mjs'), 'export const short = (answer) => answer.length < 200;\n');
  const checked = [
    { id: 'ok', question: 'What is a node?', checks: [{ regex: 'process' }, { module: 'checks.mjs#short' }] },
    {
      id: 'bad',
      question: 'What is a topic?',
      checks: [{ contains: 'a named bus' }, { contains: 'a train' }],
    },
  ];
  await writeFile(inHome('checked.jsonl'), checked.map((item) => `${JSON.stringify(item)}\n`).join(''));
  await writeFile(inHome('terse.md'), 'Be brief.\n');
  const arms = [
    '--arm',
    'a: systemPrompt="Say little." topK=3',
    '--arm',
    'b: topK=9',
    '--arm',
    'terse: systemPrompt=@terse.md',
  ];
  const compare = ['compare', 'checked.jsonl', ...arms, '--json', 'checked.json'];
  expect(await run(compare)).toMatchObject({ code: 3, stderr: expect.stringContaining('checks.mjs') });
  expect(await run([...compare, '--trust'])).toMatchObject({ code: 0 });
  const report = reportIn('checked.json');
  expect(report.arms.map(({ name, settings }) => [name, settings?.topK])).toEqual([
    ['a', 3],
    ['b', 9],
    ['terse', expect.any(Number)],
  ]);
  expect(report.arms[0]?.metrics).toMatchObject({ 'answer.correct': { value: 0.5 } });
});

test('exits with code 8 and the failed line if a gate fails', async () => {
  const gates = ['--gate', 'citation.precision>=0.9', '--gate', 'cost.tokens<=1'];
  const { code, stdout, stderr } = await run(['eval', 'cases.jsonl', ...gates, '--json', 'gated.json']);
  expect(code).toBe(8);
  expect(stdout).toContain('✓ tool: citation.precision >= 0.9');
  expect(stderr).toContain('1 of 2 gates failed.');
  expect(stderr).toContain('tool: cost.tokens <= 1: ');
  expect(reportIn('gated.json').gates.map(({ passed }) => passed)).toEqual([true, false]);
});

test('passes a baseline gate unless the results get worse', async () => {
  const repeated = Array.from({ length: 7 }, (_, index) => ({
    id: `node-${index}`,
    question: `What is a node${' '.repeat(index)}?`,
    expectedPhrases: ['process'],
  }));
  await writeFile(inHome('nodes.jsonl'), repeated.map((item) => `${JSON.stringify(item)}\n`).join(''));
  expect((await run(['eval', 'nodes.jsonl', '--json', 'nodes.json'])).code).toBe(0);
  const gate = ['--gate', 'no-worse-than nodes.json'];
  expect((await run(['eval', 'nodes.jsonl', ...gate])).code).toBe(0);
  const { code, stdout, stderr } = await run(['eval', 'nodes.jsonl', ...gate, '--policy', 'never']);
  expect(code).toBe(8);
  expect(stderr).toContain('no worse than nodes.json: answer.correct 1.000 lower, a loss is proven');
  expect(stdout).not.toContain('✓ never');
  const few = await run(['eval', 'cases.jsonl', '--gate', 'no-worse-than base.json']);
  expect(few).toMatchObject({ code: 8, stderr: expect.stringContaining('too few cases to prove a loss') });
});

test('compares policies on the same cases, with the verdict first', async () => {
  const { code, stdout } = await start([
    'compare',
    'cases.jsonl',
    '--policies',
    'tool,always,never',
    '--json',
    'compared.json',
  ]);
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^The offline model is not a language model: .*\n[\s\S]*\nUndecided between “tool”, “always” and “never”: about\s\d+ more/,
  );
  expect(stdout).toContain('“always” compared with “tool”');
  expect(stdout).toMatch(/^“never” has \d+ fewer correct answers than “tool”/m);
  expect(stdout).toContain('4 cases: only large differences');
  const report = reportIn('compared.json');
  expect(report.arms.map(({ name }) => name)).toEqual(['tool', 'always', 'never']);
  const correct = report.comparisons[1]?.metrics.find(({ metric }) => metric === 'answer.correct');
  expect(correct).toMatchObject({ n: 3, worse: ['node', 'topic'], p: null });
});

test('compares arms of any setting', async () => {
  const arms = ['--arm', 'narrow: topK=1', '--arm', 'words: mode=lexical scoreThreshold=0'];
  const { code, stdout } = await run(['compare', 'cases.jsonl', ...arms]);
  expect(code).toBe(0);
  expect(stdout).toContain('“words” compared with “narrow”');
});

test('gives the same numbers for the same seed', async () => {
  const compare = async (file: string) => {
    await run(['compare', 'cases.jsonl', '--policies', 'tool,never', '--json', file, '--fresh']);
    return reportIn(file);
  };
  const [first, second] = [await compare('one.json'), await compare('two.json')];
  for (const metric of ['answer.correct', 'citation.precision', 'retrieval.recall@5']) {
    const valuesOf = ({ arms }: ReportData) => arms.map(({ metrics }) => metrics[metric]);
    expect(valuesOf(first)).toEqual(valuesOf(second));
    const compared = ({ comparisons }: ReportData) =>
      comparisons[0]?.metrics.find((one) => one.metric === metric);
    expect(compared(first)?.interval).toEqual(compared(second)?.interval);
  }
});

test('continues an interrupted evaluation', async () => {
  const many = Array.from({ length: 24 }, (_, index) => ({
    id: `n${index}`,
    question: `What is a node of kind ${index}?`,
  }));
  await writeFile(inHome('many.jsonl'), many.map((item) => `${JSON.stringify(item)}\n`).join(''));
  const states = () =>
    readdirSync(inHome('evaluations'))
      .filter((name) => name.endsWith('.jsonl'))
      .map((name) => readFileSync(join(inHome('evaluations'), name), 'utf8').split('\n').length - 1);
  const stopped = await start(['eval', 'many.jsonl', '--concurrency', '1'], {
    onStart(child) {
      const timer = setInterval(() => {
        if (!existsSync(inHome('evaluations')) || !states().some((lines) => lines >= 3)) return;
        // A second signal would kill the process.
        clearInterval(timer);
        child.kill('SIGINT');
      }, 10);
      child.on('close', () => clearInterval(timer));
    },
  });
  expect(stopped.code).toBe(130);
  expect(stopped.stderr).toContain('Run the same command again to continue.');
  const [kept = 0] = states();
  expect(kept).toBeGreaterThanOrEqual(3);
  expect(kept).toBeLessThan(24);
  const { code, stdout } = await start(['eval', 'many.jsonl', '--concurrency', '1', '--json', 'many.json']);
  expect(code).toBe(0);
  expect(stdout.replace(/\s+/g, ' ')).toContain(`${kept} answers reused from an interrupted run`);
  expect(reportIn('many.json').header.totals).toMatchObject({ turns: 24, reused: kept });
  expect(reportIn('many.json').cases).toHaveLength(24);
  expect(states()).toEqual([]);
});

test('warns if no expected source is in the collection', async () => {
  const [first] = CASES;
  const elsewhere = { ...first, expectedSources: ['docs/owls.md'] };
  await writeFile(inHome('elsewhere.jsonl'), `${JSON.stringify(elsewhere)}\n`);
  await run(['eval', 'elsewhere.jsonl', '--json', 'elsewhere.json']);
  expect(reportIn('elsewhere.json').notes).toEqual([expect.stringContaining('collection robots')]);
  expect(reportIn('base.json').notes).toEqual([]);
});

test('compares two reports case by case', async () => {
  await run(['eval', 'cases.jsonl', '--json', 'with.json']);
  const without = await run([
    ...['eval', 'cases.jsonl', '--policy', 'never', '--json', 'without.json'],
    ...['--system-prompt', 'Be brief.', '--max-history', '5'],
  ]);
  const { code, stdout } = await runInProcess(['eval', 'diff', 'with.json', 'without.json'], { home });
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^Of 3 answers, 2 got worse and 0 better: .+\.\nChanged settings: policy tool → never; maxHistory 20 → 5; systemPrompt\.\n/,
  );
  // Answers are wrapped, not cut.
  expect(stdout).not.toContain('…');
  expect(stdout).toContain('✗ node: right → wrong');
  expect(without.stdout).toContain('“never” is wrong on node, topic\n- node: ');
  const files = await runInProcess(['eval', 'diff', 'without.json', 'with.json', '--json'], { home });
  expect(JSON.parse(files.stdout)).toMatchObject({
    shared: 4,
    settings: [
      { setting: 'policy', before: 'never', after: 'tool' },
      { setting: 'maxHistory', before: 5, after: 20 },
      { setting: 'systemPrompt' },
    ],
    gone: [],
    flipped: [
      { id: 'node', before: { state: 'wrong' }, after: { state: 'right' } },
      { id: 'topic', before: { state: 'wrong' }, after: { state: 'right' } },
    ],
  });
  const unknown = await runInProcess(['eval', 'diff', 'yesterday.json', 'with.json'], { home });
  expect(unknown).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('yesterday.json'),
  });
});

test('stops at the budget and continues with a larger one', async () => {
  await writeFile(inHome('offline.json'), '{"models":{"offline":{"input":1000,"output":1000}}}');
  const args = [
    'eval',
    'cases.jsonl',
    '--prices',
    'offline.json',
    '--concurrency',
    '1',
    '--json',
    'paid.json',
  ];
  expect((await run(['eval', 'cases.jsonl', '--budget', '1'])).stderr).toContain(
    '--budget needs the price of offline',
  );
  const short = await run([...args, '--budget', '1.5', '--fresh']);
  expect(short.code).toBe(8);
  expect(short.stderr).toMatch(/The budget is used up after \d.*: \d of 4 answers are missing\./);
  const spent = Number(/used up after ([\d.]+):/.exec(short.stderr)?.[1]);
  expect(spent).toBeLessThanOrEqual(1.5);
  expect((await run([...args, '--budget', '100'])).code).toBe(0);
  const { totals } = reportIn('paid.json').header;
  expect(totals.reused).toBeGreaterThan(0);
  expect(totals.money).toBeGreaterThan(0);
});

test('rejects invalid input before asking', async () => {
  await writeFile(inHome('twice.jsonl'), '{"id":"a","question":"x"}\n{"id":"a","question":"y"}\n');
  await writeFile(inHome('plain.jsonl'), '{"id":"a","question":"x"}\n');
  await writeFile(inHome('prices.json'), '{"models":{"offline":{"input":-1,"output":0}}}');
  const refused: [string[], string][] = [
    [['eval', 'twice.jsonl'], 'line 2: duplicate id "a", first used in line 1'],
    [['eval', 'nowhere.jsonl'], 'does not exist'],
    [
      ['eval', 'plain.jsonl', '--gate', 'abstention.recall>=0.5'],
      'abstention.recall cannot be measured: no case has answerable: false',
    ],
    [['eval', 'cases.jsonl', '--gate', 'answer.quality>=1'], 'Unknown metric'],
    [['eval', 'cases.jsonl', '--gate', 'no-worse-than twice.jsonl'], 'twice.jsonl is not valid JSON'],
    [['eval', 'many.jsonl', '--gate', 'no-worse-than base.json'], 'was measured on other cases'],
    [['eval', 'cases.jsonl', '--tag', 'nope'], 'No case has the tag nope'],
    [['eval', 'cases.jsonl', '--repeat', '0'], '--repeat must be a whole number'],
    [['eval', 'cases.jsonl', '--prices', 'prices.json'], 'The price file prices.json is not valid'],
    [['compare', 'cases.jsonl'], 'Nothing to compare'],
    [['compare', 'cases.jsonl', '--policies', 'tool,maybe'], 'Invalid value "maybe" of --policies'],
    [['compare', 'cases.jsonl', '--top-k', '3,fifty'], '--top-k must be a comma-separated list'],
    [['compare', 'cases.jsonl', '--arm', 'a: colour=red', '--arm', 'b: topK=2'], 'unknown setting "colour"'],
  ];
  for (const [args, message] of refused) {
    const { code, stderr } = await run(args);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  }
});

test('drafts cases from a collection and does not overwrite a file', async () => {
  const { code, stdout } = await run(['eval', 'init', '--output', 'drafts.yaml', '--json']);
  expect(code).toBe(0);
  const drafts = parseCases(readFileSync(inHome('drafts.yaml'), 'utf8'), 'drafts.yaml');
  expect(JSON.parse(stdout)).toMatchObject({ file: 'drafts.yaml', cases: drafts.length });
  expect(drafts.map(({ question }) => question)).toContain('What is a topic?');
  expect((await run(['eval', 'init', '--output', 'drafts.yaml'])).code).toBe(2);
  // Off-topic questions are added.
  expect(drafts.length).toBeGreaterThan(6);
  for (const howMany of ['--count', '--n', '-n']) {
    const one = await run(['eval', 'init', howMany, '1', '--output', 'one.yaml', '--force', '--json']);
    expect(JSON.parse(one.stdout)).toMatchObject({ cases: 3 });
  }
  expect((await run(['eval', 'drafts.yaml'])).stdout).toContain('questions correctly');
});

test('imports the questions of a CSV file', async () => {
  await writeFile(inHome('rows.csv'), 'question,answer,owner\nWhat is a node?,A process,anna\n');
  const { stdout } = await runInProcess(['eval', 'import', 'rows.csv', '-o', 'rows.jsonl'], { home });
  expect(stdout.replace(/\s+/g, ' ')).toContain(
    'Imported 1 case to rows.jsonl. Skipped: column owner. Run: citeloop eval rows.jsonl',
  );
});

test('finds no difference between equal arms', async () => {
  const many = Array.from({ length: 8 }, (_, index) =>
    CASES.map((item) => ({
      ...item,
      id: `${item.id}-${index}`,
      question: `${item.question}${' '.repeat(index)}?`,
    })),
  ).flat();
  await writeFile(inHome('twins.jsonl'), many.map((item) => `${JSON.stringify(item)}\n`).join(''));
  const arms = ['--arm', 'one: topK=5', '--arm', 'two: topK=5'];
  const { code } = await run(['compare', 'twins.jsonl', ...arms, '--json', 'twins.json']);
  expect(code).toBe(0);
  const [comparison] = reportIn('twins.json').comparisons;
  const changed = comparison?.metrics.filter(({ conclusion }) => ['better', 'worse'].includes(conclusion));
  expect(changed).toEqual([]);
  expect(comparison?.metrics.map(({ metric }) => metric)).toContain('time.total');
});

test('compares with an agent from code', async () => {
  await writeFile(
    inHome('agent.mjs'),
    'export default ({ id }) => ({ answer: id === "node" ? "It performs computation." : "It is red.", sources: ["docs/nodes.md"] });\n',
  );
  const arms = ['--arm', 'theirs: module:./agent.mjs', '--arm', 'ours: policy=tool'];
  const { code, stderr } = await run(['compare', 'cases.jsonl', ...arms, '--json', 'code.json']);
  expect(stderr).toBe('');
  expect(code).toBe(0);
  const report = reportIn('code.json');
  expect(report.arms.map(({ name, settings }) => [name, settings?.policy])).toEqual([
    ['theirs', undefined],
    ['ours', 'tool'],
  ]);
  expect(report.cases.find(({ id }) => id === 'node')?.results.theirs?.metrics['answer.correct']).toBe(1);
  expect(
    await run(['compare', 'cases.jsonl', '--arm', 'topK=3', '--arm', 'module:./none.mjs']),
  ).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Could not load ./none.mjs'),
  });
});
test('imports a BEIR folder as a collection and cases', async () => {
  await mkdir(inHome('beir/qrels'), { recursive: true });
  const corpus = [
    { _id: 'https://a.example/#1', title: 'Wheels', text: 'Wheels turn when the motor drives them forward.' },
    { _id: 'b', title: '', text: 'Batteries store the energy that a robot needs to move.' },
  ];
  await writeFile(inHome('beir/corpus.jsonl'), corpus.map((row) => `${JSON.stringify(row)}\n`).join(''));
  await writeFile(
    inHome('beir/queries.jsonl'),
    '{"_id":"q1","text":"When do wheels turn?"}\n{"_id":"q2","text":"What stores the energy of a robot?"}\n',
  );
  await writeFile(
    inHome('beir/qrels/test.tsv'),
    'query-id\tcorpus-id\tscore\nq1\thttps://a.example/#1\t1\nq2\tb\t1\n',
  );
  const imported = await runInProcess(['eval', 'import', 'beir', '--output', 'beir.jsonl'], { home });
  expect(imported.stdout).toContain('Indexed 2 documents in beir.');
  const { code } = await runInProcess(['eval', 'beir.jsonl', '--collection', 'beir', '--json', 'beir.json'], {
    home,
  });
  expect(code).toBe(0);
  expect(reportIn('beir.json').arms[0]?.metrics['retrieval.recall@5']).toMatchObject({ value: 1, n: 2 });
  expect(reportIn('beir.json').cases[0]?.results.tool?.runs[0]?.retrievals[0]?.chunks[0]?.title).toBe(
    'Wheels',
  );
});

import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { createOfflineModel } from '../../../src/adapters/offline/offline-model.ts';
import { createMemorySessionStore } from '../../../src/adapters/sqlite/sqlite-session-store.ts';
import { createConversationAgent } from '../../../src/agent/create-agent.ts';
import { agentConfigSchema, type RetrievalPolicy } from '../../../src/domain/agent-config.ts';
import type { EvaluationCase } from '../../../src/evaluation/cases/evaluation-case.ts';
import { caseRunSchema } from '../../../src/evaluation/report/case-run.ts';
import { createPriceCalculator, unknownPrice } from '../../../src/evaluation/run/model-prices.ts';
import { runCase } from '../../../src/evaluation/run/run-case.ts';
import { createSmallLibrary, type SmallLibrary } from '../../support/small-library.ts';

const runtime = { now: () => new Date(), elapsedMs: () => performance.now(), newId: randomUUID };
const signal = new AbortController().signal;

const DOCUMENTS = {
  'ros2/Nodes':
    'A node is a process that performs computation. A node publishes at 30 Hz. Nodes talk over topics.',
  'ros2/Topics': 'A topic is a named bus over which nodes exchange messages. Topics have many subscribers.',
};

/** An agent with the offline model on SQLite. */
function createDependencies(library: SmallLibrary, policy: RetrievalPolicy = 'tool') {
  const config = agentConfigSchema.parse({ policy });
  const sessions = createMemorySessionStore();
  const agent = createConversationAgent({
    config,
    model: createOfflineModel({ newId: randomUUID }),
    store: library.store,
    retriever: library.retriever,
    sessions,
    runtime,
  });
  return { agent, config, sessions, runtime, collection: 'library', priceOf: unknownPrice };
}

const NODE: EvaluationCase = {
  id: 'node',
  question: 'What is a node?',
  expectedSources: ['ros2/Nodes'],
  answerable: true,
  needsRetrieval: true,
};

test('runs a case with the real agent and records the turn', async () => {
  const library = await createSmallLibrary(DOCUMENTS);
  const run = await runCase(NODE, 1, createDependencies(library), signal);
  expect(caseRunSchema.parse(run)).toEqual(run);
  expect(run).toMatchObject({
    abstained: false,
    grounded: true,
    searches: 1,
    duplicateSearches: 0,
    error: null,
  });
  expect(run.answer).toContain('A node is a process that performs computation. [1]');
  expect(run.citations[0]).toMatchObject({ verdict: 'quoted', expected: true });
  expect(run.sentences[0]).toMatchObject({ markers: ['1'], verdict: 'quoted' });
  expect(run.retrievals[0]?.chunks.some(({ expected }) => expected)).toBe(true);
  expect(run.tokens.total).toBeGreaterThan(0);
  expect(run.timesMs.firstToken).toBeGreaterThan(0);
  expect(run.timesMs.total).toBeGreaterThanOrEqual(run.timesMs.retrieval);
});

test('matches expected paths above the ingested folder without revealing more of the path', async () => {
  const library = await createSmallLibrary(DOCUMENTS);
  const uris = (await Array.fromAsync(library.store.documents())).map(({ uri }) => uri);
  const writes = await library.store.read(uris);
  await library.store.remove(uris);
  await library.store.write(
    writes.map(({ document, chunks }) => {
      const uri = `file:///srv/ros2/${document.title}.md`;
      const place = { uri, root: 'file:///srv/ros2/', url: `${document.title}.md` };
      return { document: { ...document, ...place }, chunks };
    }),
  );
  const run = await runCase(
    { ...NODE, expectedSources: ['ros2/Nodes.md'] },
    1,
    createDependencies(library),
    signal,
  );
  expect(run.citations[0]).toMatchObject({ url: 'ros2/Nodes.md', expected: true });
  expect(run.retrievals[0]?.chunks).toEqual(
    expect.arrayContaining([expect.objectContaining({ url: 'Topics.md', expected: false })]),
  );
  expect(JSON.stringify(run)).not.toContain('srv');
});

test('resolves a follow-up question by the history', async () => {
  const library = await createSmallLibrary(DOCUMENTS);
  const followUp: EvaluationCase = {
    id: 'follow-up',
    question: 'How do they exchange messages?',
    history: [
      { role: 'user', content: 'What is a topic?' },
      { role: 'assistant', content: 'A topic is a named bus.' },
    ],
  };
  const run = await runCase(followUp, 1, createDependencies(library), signal);
  expect(run.error).toBeNull();
  expect(run.retrievals[0]?.query.toLowerCase()).toContain('topic');
});

test('deletes its session', async () => {
  const dependencies = createDependencies(await createSmallLibrary(DOCUMENTS));
  await runCase(NODE, 1, dependencies, signal);
  await runCase(
    {
      ...NODE,
      history: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: 'Hello.' },
      ],
    },
    1,
    dependencies,
    signal,
  );
  expect(await dependencies.sessions.list()).toEqual([]);
});

test('records abstentions, and no searches for small talk', async () => {
  const dependencies = createDependencies(await createSmallLibrary(DOCUMENTS));
  const abstention = await runCase(
    { id: 'x', question: 'Who painted the Mona Lisa?' },
    1,
    dependencies,
    signal,
  );
  expect(abstention).toMatchObject({ abstained: true, grounded: false, citations: [] });
  expect(await runCase({ id: 'y', question: 'Hello!' }, 1, dependencies, signal)).toMatchObject({
    searches: 0,
    retrievals: [],
  });
});

test('does not search with the policy never', async () => {
  const run = await runCase(
    NODE,
    1,
    createDependencies(await createSmallLibrary(DOCUMENTS), 'never'),
    signal,
  );
  expect(run).toMatchObject({ searches: 0 });
});

test('applies the filter of a case', async () => {
  const run = await runCase(
    { ...NODE, filter: { module: ['other'] } },
    1,
    createDependencies(await createSmallLibrary(DOCUMENTS)),
    signal,
  );
  expect(run.retrievals.flatMap(({ chunks }) => chunks)).toEqual([]);
});

test('records an error for a question that is too long', async () => {
  const run = await runCase(
    { id: 'x', question: 'x'.repeat(9000) },
    1,
    createDependencies(await createSmallLibrary(DOCUMENTS)),
    signal,
  );
  expect(run).toMatchObject({ answer: '', error: { errorType: 'invalid_input' } });
});

test('rejects with the reason of an aborted signal', async () => {
  const controller = new AbortController();
  controller.abort(new Error('enough'));
  await expect(
    runCase(NODE, 1, createDependencies(await createSmallLibrary(DOCUMENTS)), controller.signal),
  ).rejects.toThrow('enough');
});

test('prices a turn if the model has a price', async () => {
  const library = await createSmallLibrary(DOCUMENTS);
  const priceOf = createPriceCalculator({ currency: 'EUR', models: { offline: { input: 2, output: 4 } } });
  const run = await runCase(NODE, 1, { ...createDependencies(library), priceOf }, signal);
  expect(run.cost).toBeCloseTo((run.tokens.prompt * 2 + run.tokens.completion * 4) / 1e6, 12);
  expect(createPriceCalculator({ currency: 'EUR', models: {} })('offline', run.tokens)).toBeNull();
});

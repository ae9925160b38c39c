import { assistantMessage, functionCall, modelError, ScriptedModel } from '@openai/agents/testing';
import { trace } from '@opentelemetry/api';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { type CiteloopAgent, createAgent, tool } from '../../src/index.ts';
import { createTemporaryDirectory } from '../support/temporary-directory.ts';

const exporter = new InMemorySpanExporter();
beforeAll(() => {
  trace.setGlobalTracerProvider(
    new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
  );
});
afterEach(() => exporter.reset());
afterAll(() => trace.disable());

async function ask(model: ScriptedModel, telemetry: boolean | { content: boolean }) {
  const home = await createTemporaryDirectory();
  const retriever = async () => ['An owl hunts at night.'];
  const agent = await createAgent({ home, retriever, model, modelName: 'm', telemetry });
  await agent.ask('When do owls hunt?').catch(() => {});
  await agent.close();
  return exporter.getFinishedSpans();
}

const script = () =>
  new ScriptedModel([
    [functionCall('search_docs', { query: 'owls' }, { callId: 'c1' })],
    [assistantMessage('An owl hunts at night [1].')],
  ]);

test('a turn is a trace of agent, model calls, tool and retrieval, without content', async () => {
  const spans = await ask(script(), true);
  expect(spans.map(({ name }) => name)).toEqual([
    'chat m',
    'retrieval retriever',
    'execute_tool search_docs',
    'chat m',
    'invoke_agent citeloop',
  ]);
  const [, retrieval, tool, , agent] = spans;
  expect(retrieval?.parentSpanContext?.spanId).toBe(tool?.spanContext().spanId);
  expect(tool?.parentSpanContext?.spanId).toBe(agent?.spanContext().spanId);
  expect(new Set(spans.map((span) => span.spanContext().traceId)).size).toBe(1);
  expect(agent?.attributes).toMatchObject({
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.request.model': 'm',
    'citeloop.policy': 'tool',
    'citeloop.grounded': true,
    'gen_ai.usage.input_tokens': expect.any(Number),
  });
  expect(JSON.stringify(spans.map(({ attributes }) => attributes))).not.toMatch(/owl/i);
});

test('content is added on request, and errors are marked', async () => {
  const withContent = await ask(script(), { content: true });
  expect(withContent.at(-1)?.attributes).toMatchObject({
    'gen_ai.input.messages': expect.stringContaining('When do owls hunt?'),
  });
  exporter.reset();
  const failed = await ask(
    new ScriptedModel([modelError(Object.assign(new Error('no'), { status: 401 }))]),
    true,
  );
  for (const span of failed)
    expect(span).toMatchObject({ status: { code: 2 }, attributes: { 'error.type': 'auth_error' } });
  expect(failed.map(({ name }) => name)).toEqual(['chat m', 'invoke_agent citeloop']);
  exporter.reset();
  expect(await ask(script(), false)).toEqual([]);
});

test('own tools, answer and search are traced', async () => {
  const lookUp = tool({
    name: 'look_up',
    description: 'Looks up.',
    parameters: z.object({}),
    execute: async (): Promise<string> => String((await agent.search('owls')).totalFound),
  });
  const model = new ScriptedModel([
    [functionCall('look_up', {}, { callId: 'c1' })],
    [assistantMessage('Nothing is known.')],
  ]);
  const home = await createTemporaryDirectory();
  const retriever = async () => ['An owl hunts at night.'];
  const agent: CiteloopAgent = await createAgent({
    home,
    retriever,
    model,
    tools: [lookUp],
    telemetry: true,
  });
  await agent.answer({ question: 'When?', history: [] }, () => {});
  await agent.search('bats');
  await agent.close();
  const names = exporter.getFinishedSpans().map(({ name }) => name);
  expect(names.slice(1)).toEqual([
    'retrieval retriever',
    'execute_tool look_up',
    'chat ScriptedModel',
    'invoke_agent citeloop',
    'retrieval retriever',
  ]);
  const [, search, call] = exporter.getFinishedSpans();
  expect(search?.parentSpanContext?.spanId).toBe(call?.spanContext().spanId);
  expect(exporter.getFinishedSpans().at(-1)?.parentSpanContext).toBeUndefined();
});

test('a question whose reader stops early ends its spans', async () => {
  const home = await createTemporaryDirectory();
  const retriever = async () => ['An owl hunts at night.'];
  const agent = await createAgent({ home, retriever, model: script(), modelName: 'm', telemetry: true });
  const session = await agent.startSession();
  for await (const event of session.ask('When do owls hunt?')) if (event.type === 'tool_call') break;
  await agent.close();
  expect(exporter.getFinishedSpans().map(({ name }) => name)).toContain('invoke_agent citeloop');
});

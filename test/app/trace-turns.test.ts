import { assistantMessage, functionCall, modelError, ScriptedModel } from '@openai/agents/testing';
import { trace } from '@opentelemetry/api';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createAgent } from '../../src/index.ts';
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
    'retrieval',
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
  expect(withContent.at(-1)?.attributes).toMatchObject({ 'citeloop.question': 'When do owls hunt?' });
  exporter.reset();
  const failed = await ask(
    new ScriptedModel([modelError(Object.assign(new Error('no'), { status: 401 }))]),
    true,
  );
  expect(failed.at(-1)).toMatchObject({ status: { code: 2 }, attributes: { 'error.type': 'auth_error' } });
  exporter.reset();
  expect(await ask(script(), false)).toEqual([]);
});

import { randomUUID } from 'node:crypto';
import type { AgentInputItem, AgentOutputItem, Model, ModelRequest } from '@openai/agents';
import { Hono } from 'hono';
import { streamSSE } from 'hono/streaming';
import type { Embedder } from '../../src/ports/embedder.ts';

export interface ModelServerOptions {
  model: Model;
  modelName: string;
  /** Loaded by the first request that needs it. */
  embedder: () => Promise<Embedder>;
  embedderName: string;
}

/** The fields of requests that clients of this server use. */
interface ServiceRequest {
  model: string;
  stream?: boolean;
  stream_options?: { include_usage?: boolean };
  instructions?: string;
  messages?: WireItem[];
  input?: string | WireItem[];
  tools?: (WireTool & { function?: WireTool })[];
  tool_choice?: string | { name?: string; function?: { name: string } };
  temperature?: number;
}

interface WireTool {
  name: string;
  description?: string;
  parameters?: unknown;
}

/** A message of the Chat Completions API, or an item of the Responses API. */
interface WireItem {
  role?: string;
  type?: string;
  content?: string | { text?: string }[] | null;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
  call_id?: string;
  name?: string;
  arguments?: string;
  output?: string;
}

interface ModelAnswer {
  text: string;
  calls: { id: string; name: string; arguments: string }[];
  usage: { inputTokens: number; outputTokens: number; totalTokens: number };
}

/** Serves a model of the Agents SDK and an embedder through OpenAI's HTTP APIs. */
export function createModelServer({ model, modelName, embedder, embedderName }: ModelServerOptions): Hono {
  const app = new Hono();
  app.onError((error, context) => {
    process.stderr.write(`A request to the model server failed: ${error.message}\n`);
    return context.json({ error: { message: error.message, type: 'server_error' } }, 500);
  });
  app.get('/v1/models', (context) =>
    context.json({ object: 'list', data: [modelName, embedderName].map((id) => ({ id, object: 'model' })) }),
  );

  app.post('/v1/chat/completions', async (context) => {
    const request: ServiceRequest = await context.req.json();
    if (request.model !== modelName) return context.json({ error: { message: 'Unknown model.' } }, 404);
    const base = { id: `chatcmpl-${randomUUID()}`, created: 0, model: modelName };
    const modelRequest = toModelRequest(request, request.messages ?? [], context.req.raw.signal);
    if (!request.stream) {
      const { text, calls, usage } = await askModel(model, modelRequest);
      const toolCalls = calls.map(toChatToolCall);
      const message = {
        role: 'assistant',
        content: text || null,
        ...(calls.length > 0 && { tool_calls: toolCalls }),
      };
      const finish_reason = calls.length > 0 ? 'tool_calls' : 'stop';
      const choices = [{ index: 0, message, finish_reason }];
      return context.json({ ...base, object: 'chat.completion', choices, usage: toChatUsage(usage) });
    }
    return streamSSE(context, async (stream) => {
      const send = (choices: unknown[], usage: unknown = null) =>
        stream.writeSSE({
          data: JSON.stringify({ ...base, object: 'chat.completion.chunk', choices, usage }),
        });
      const { calls, usage } = await askModel(model, modelRequest, (content) =>
        send([{ index: 0, delta: { role: 'assistant', content }, finish_reason: null }]),
      );
      for (const [index, call] of calls.entries()) {
        const delta = { role: 'assistant', tool_calls: [{ index, ...toChatToolCall(call) }] };
        await send([{ index: 0, delta, finish_reason: null }]);
      }
      await send([{ index: 0, delta: {}, finish_reason: calls.length > 0 ? 'tool_calls' : 'stop' }]);
      if (request.stream_options?.include_usage) await send([], toChatUsage(usage));
      await stream.writeSSE({ data: '[DONE]' });
    });
  });

  app.post('/v1/responses', async (context) => {
    const request: ServiceRequest = await context.req.json();
    if (request.model !== modelName) return context.json({ error: { message: 'Unknown model.' } }, 404);
    const items =
      typeof request.input === 'string' ? [{ role: 'user', content: request.input }] : (request.input ?? []);
    const modelRequest = toModelRequest(request, items, context.req.raw.signal);
    const base = { id: `resp_${randomUUID()}`, object: 'response', created_at: 0, model: modelName };
    if (!request.stream) {
      const { text, calls, usage } = await askModel(model, modelRequest);
      const output = toResponseOutput(text, calls);
      return context.json({ ...base, status: 'completed', output, usage: toResponseUsage(usage) });
    }
    return streamSSE(context, async (stream) => {
      let sequence_number = 0;
      const send = (type: string, fields: object) =>
        stream.writeSSE({
          event: type,
          data: JSON.stringify({ type, sequence_number: sequence_number++, ...fields }),
        });
      await send('response.created', { response: { ...base, status: 'in_progress', output: [] } });
      let opened = false;
      const { text, calls, usage } = await askModel(model, modelRequest, async (delta) => {
        if (!opened) {
          const item = {
            type: 'message',
            id: 'msg_1',
            role: 'assistant',
            status: 'in_progress',
            content: [],
          };
          const part = { type: 'output_text', text: '', annotations: [] };
          await send('response.output_item.added', { output_index: 0, item });
          await send('response.content_part.added', {
            item_id: 'msg_1',
            output_index: 0,
            content_index: 0,
            part,
          });
        }
        opened = true;
        const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };
        await send('response.output_text.delta', { ...place, delta });
      });
      const output = toResponseOutput(text, calls);
      for (const [output_index, item] of output.entries()) {
        if (item.type === 'function_call') await send('response.output_item.added', { output_index, item });
        await send('response.output_item.done', { output_index, item });
      }
      const response = { ...base, status: 'completed', output, usage: toResponseUsage(usage) };
      await send('response.completed', { response });
    });
  });

  app.post('/v1/embeddings', async (context) => {
    const { model: name, input, encoding_format } = await context.req.json();
    if (name !== embedderName) return context.json({ error: { message: 'Unknown model.' } }, 404);
    const { embedDocuments, batchSize } = await embedder();
    const texts: string[] = [input].flat();
    const vectors: Float32Array[] = [];
    for (let at = 0; at < texts.length; at += batchSize)
      vectors.push(...(await embedDocuments(texts.slice(at, at + batchSize))));
    const encode = (vector: Float32Array) =>
      encoding_format === 'base64'
        ? Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64')
        : [...vector];
    const data = vectors.map((vector, index) => ({ object: 'embedding', index, embedding: encode(vector) }));
    const usage = { prompt_tokens: texts.length, total_tokens: texts.length };
    return context.json({ object: 'list', data, model: name, usage });
  });
  return app;
}

async function askModel(
  model: Model,
  request: ModelRequest,
  onDelta: (text: string) => Promise<void> = async () => {},
): Promise<ModelAnswer> {
  for await (const event of model.getStreamedResponse(request)) {
    if (event.type === 'output_text_delta') await onDelta(event.delta);
    if (event.type === 'response_done')
      return toModelAnswer(event.response.output as AgentOutputItem[], event.response.usage);
  }
  throw new Error('The model ended without a response.');
}

function toModelAnswer(output: readonly AgentOutputItem[], usage: ModelAnswer['usage']): ModelAnswer {
  const text = output.flatMap((item) =>
    'role' in item && item.role === 'assistant'
      ? item.content.map((part) => (part.type === 'output_text' ? part.text : ''))
      : [],
  );
  const calls = output.flatMap((item) =>
    item.type === 'function_call' ? [{ id: item.callId, name: item.name, arguments: item.arguments }] : [],
  );
  return { text: text.join(''), calls, usage };
}

function toModelRequest(
  request: ServiceRequest,
  items: readonly WireItem[],
  signal: AbortSignal,
): ModelRequest {
  const isRule = ({ role }: WireItem) => role === 'system' || role === 'developer';
  const rules = [request.instructions ?? '', ...items.filter(isRule).map(textOf)].filter(Boolean);
  const { tool_choice: choice } = request;
  const toolChoice = typeof choice === 'string' ? choice : (choice?.function?.name ?? choice?.name);
  return {
    ...(rules.length > 0 && { systemInstructions: rules.join('\n\n') }),
    input: items.filter((item) => !isRule(item)).flatMap(toInputItems),
    modelSettings: { ...(toolChoice !== undefined && { toolChoice }) },
    tools: (request.tools ?? []).map((tool) => ({
      type: 'function',
      name: tool.function?.name ?? tool.name,
      description: tool.function?.description ?? tool.description ?? '',
      // Any schema of a client; the SDK's type accepts parsed schemas only.
      parameters: (tool.function?.parameters ?? tool.parameters ?? {}) as never,
      strict: false,
    })),
    outputType: 'text',
    handoffs: [],
    tracing: false,
    signal,
  };
}

function toInputItems(item: WireItem): AgentInputItem[] {
  const callId = item.call_id ?? item.tool_call_id ?? '';
  const call = (id: string, name: string, args: string): AgentInputItem => ({
    type: 'function_call',
    callId: id,
    name,
    arguments: args,
    status: 'completed',
  });
  const result = (text: string): AgentInputItem => ({
    type: 'function_call_result',
    callId,
    name: 'search_docs',
    status: 'completed',
    output: { type: 'text', text },
  });
  if (item.type === 'function_call') return [call(callId, item.name ?? '', item.arguments ?? '')];
  if (item.type === 'function_call_output') return [result(item.output ?? '')];
  if (item.role === 'tool') return [result(textOf(item))];
  if (item.role === 'user') return [{ role: 'user', content: textOf(item) }];
  if (item.role !== 'assistant') return [];
  const text = textOf(item);
  const content = [{ type: 'output_text' as const, text }];
  return [
    ...(text === '' ? [] : [{ role: 'assistant' as const, status: 'completed' as const, content }]),
    ...(item.tool_calls ?? []).map(({ id, function: { name, arguments: args } }) => call(id, name, args)),
  ];
}

function textOf({ content }: WireItem): string {
  return typeof content === 'string' ? content : (content ?? []).map(({ text }) => text ?? '').join('');
}

function toChatToolCall({ id, name, arguments: args }: ModelAnswer['calls'][number]) {
  return { id, type: 'function', function: { name, arguments: args } };
}

function toResponseOutput(text: string, calls: ModelAnswer['calls']) {
  const content = [{ type: 'output_text', text, annotations: [] }];
  const message = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content };
  return [
    ...(text === '' && calls.length > 0 ? [] : [message]),
    ...calls.map(({ id, name, arguments: args }) => ({
      type: 'function_call',
      id: `fc_${id}`,
      call_id: id,
      name,
      arguments: args,
      status: 'completed',
    })),
  ];
}

function toChatUsage({ inputTokens, outputTokens, totalTokens }: ModelAnswer['usage']) {
  return { prompt_tokens: inputTokens, completion_tokens: outputTokens, total_tokens: totalTokens };
}

function toResponseUsage({ inputTokens, outputTokens, totalTokens }: ModelAnswer['usage']) {
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: totalTokens,
  };
}

import type { AgentOutputItem, Model, ModelRequest } from '@openai/agents';
import type { Hono } from 'hono';
import * as z from 'zod';
import { inputItems } from '../../src/agent/model-input.ts';
import type { Embedder } from '../../src/ports/embedder.ts';
import type { Runtime } from '../../src/ports/runtime.ts';
import { createHttpApp, type HttpAppOptions } from '../../src/server/http/create-http-app.ts';
import { guardOrigin } from '../../src/server/http/guards.ts';
import { readFields, readJson } from '../../src/server/http/read-request.ts';
import { RequestFault } from '../../src/server/http/request-fault.ts';
import type { Answer, AnswerEvent, AnswerHead } from '../../src/server/openai/answer.ts';
import { chatCompletion, chatStream } from '../../src/server/openai/chat-completion.ts';
import type { ModelCall } from '../../src/server/openai/model-call.ts';
import { readChatRequest } from '../../src/server/openai/read-chat-request.ts';
import { readResponseRequest } from '../../src/server/openai/read-response-request.ts';
import { responseObject, responseStream } from '../../src/server/openai/responses.ts';
import { estimateTokens } from '../../src/text/estimate-tokens.ts';

const MAX_BODY_BYTES = 8_000_000;

export interface ModelServerOptions extends Omit<HttpAppOptions, 'hosts'> {
  model: Model;
  /** What requests must call the model. */
  modelName: string;
  /** Loaded when it is first asked for. */
  embedder: () => Promise<Embedder>;
  embedderName: string;
  runtime: Runtime;
}

/**
 * One model, and one embedder, over the HTTP APIs of OpenAI, as far as conversations need them: a stand-in for a hosted
 * service on a real wire, made of the parts that `serve` has.
 */
export function createModelServer(options: ModelServerOptions): Hono {
  const { model, modelName, embedder, embedderName, runtime } = options;
  const started = seconds();
  const app = createHttpApp({ ...options, hosts: { names: [], anyAddress: false } });
  app.use('/v1/*', guardOrigin());

  app.get('/v1/models', (context) =>
    context.json({ object: 'list', data: [modelName, embedderName].map(modelObject) }),
  );
  app.get('/v1/models/:model{.+}', (context) => {
    const name = context.req.param('model');
    if (name !== modelName && name !== embedderName) throw unknownModel(name);
    return context.json(modelObject(name));
  });

  app.post('/v1/chat/completions', async (context) => {
    const call = readChatRequest(await readJson(context.req.raw, MAX_BODY_BYTES), readOptions());
    const { head, signal, abort } = begin(call, context.req.raw.signal);
    if (!call.stream) return context.json(chatCompletion(head, await modelAnswer(model, call, signal)));
    return chatStream(call, { head, events: modelAnswerEvents(model, call, signal), onCancel: abort });
  });

  app.post('/v1/responses', async (context) => {
    const call = readResponseRequest(await readJson(context.req.raw, MAX_BODY_BYTES), readOptions());
    const { head, signal, abort } = begin(call, context.req.raw.signal);
    if (!call.stream) return context.json(responseObject(head, call, await modelAnswer(model, call, signal)));
    return responseStream(call, { head, events: modelAnswerEvents(model, call, signal), onCancel: abort });
  });

  app.post('/v1/embeddings', async (context) => {
    const body = await readJson(context.req.raw, MAX_BODY_BYTES);
    const checkModel = (name: string) => {
      if (name !== embedderName) throw unknownModel(name);
    };
    return context.json(await embeddingsOf(body, await embedder(), checkModel, context.req.raw.signal));
  });
  return app;

  function begin(call: ModelCall, gone: AbortSignal) {
    if (call.model !== modelName) throw unknownModel(call.model);
    const controller = new AbortController();
    const head: AnswerHead = { id: runtime.newId(), createdAt: seconds(), model: modelName };
    return { head, signal: AbortSignal.any([gone, controller.signal]), abort: () => controller.abort() };
  }

  function readOptions() {
    return { nextId: runtime.newId, timestamp: runtime.now().toISOString() };
  }

  function modelObject(id: string) {
    return { id, object: 'model', created: started, owned_by: 'citeloop' };
  }

  function unknownModel(name: string): RequestFault {
    return new RequestFault(
      404,
      `There is no model ${name}; there is ${modelName} and, to embed, ${embedderName}.`,
      {
        code: 'model_not_found',
        param: 'model',
      },
    );
  }

  function seconds(): number {
    return Math.floor(runtime.now().getTime() / 1000);
  }
}

const MAX_TEXTS = 2048;
const text = z.string().min(1, 'a text must not be empty');

const embeddingsRequestSchema = z.looseObject({
  model: z.string().min(1),
  input: z.union([text, z.array(text).min(1).max(MAX_TEXTS)], {
    error: `must be a text, or a list of 1 to ${MAX_TEXTS} texts that are not empty`,
  }),
  encoding_format: z.enum(['float', 'base64']).nullish(),
  dimensions: z.int().min(1).nullish(),
});

/** What `POST /v1/embeddings` gives back. Throws a RequestFault. */
async function embeddingsOf(
  body: unknown,
  embedder: Embedder,
  checkModel: (model: string) => void,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const request = readFields(embeddingsRequestSchema, body);
  checkModel(request.model);
  if (request.dimensions != null && request.dimensions !== embedder.dimensions) {
    throw new RequestFault(400, `dimensions must be ${embedder.dimensions}.`, {
      code: 'invalid_value',
      param: 'dimensions',
    });
  }
  const texts = [request.input].flat();
  const vectors: Float32Array[] = [];
  for (let at = 0; at < texts.length; at += embedder.batchSize) {
    vectors.push(...(await embedder.embedDocuments(texts.slice(at, at + embedder.batchSize), signal)));
  }
  const tokens = texts.reduce((sum, part) => sum + estimateTokens(part), 0);
  return {
    object: 'list',
    data: vectors.map((vector, index) => ({
      object: 'embedding',
      index,
      embedding: request.encoding_format === 'base64' ? base64(vector) : [...vector],
    })),
    model: request.model,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  };
}

/** 32-bit numbers, little endian, as all machines that Node runs on keep them. */
function base64(vector: Float32Array): string {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64');
}

/** A model of the SDK asked once. Throws what the model throws. */
async function modelAnswer(model: Model, call: ModelCall, signal: AbortSignal): Promise<Answer> {
  const { output, usage } = await model.getResponse(toModelRequest(call, signal));
  return toAnswer(output, usage);
}

/** The same as it is made. */
async function* modelAnswerEvents(
  model: Model,
  call: ModelCall,
  signal: AbortSignal,
): AsyncGenerator<AnswerEvent> {
  for await (const event of model.getStreamedResponse(toModelRequest(call, signal))) {
    if (event.type === 'output_text_delta') yield { type: 'delta', text: event.delta };
    if (event.type === 'response_done') {
      yield {
        type: 'done',
        answer: toAnswer(event.response.output as AgentOutputItem[], event.response.usage),
      };
    }
  }
}

function toModelRequest(call: ModelCall, signal: AbortSignal): ModelRequest {
  return {
    ...(call.instructions !== '' && { systemInstructions: call.instructions }),
    input: inputItems(call.messages),
    modelSettings: {
      ...(call.temperature !== undefined && { temperature: call.temperature }),
      ...(call.maxTokens !== undefined && { maxTokens: call.maxTokens }),
      ...(call.toolChoice !== undefined && { toolChoice: call.toolChoice }),
    },
    tools: call.tools.map((tool) => ({
      type: 'function',
      ...tool,
      // Whatever schema a client sends; the SDK's type wants one that it was able to read.
      parameters: tool.parameters as never,
    })),
    outputType: 'text',
    handoffs: [],
    tracing: false,
    signal,
  };
}

interface SdkUsage {
  inputTokens: number;
  outputTokens: number;
  totalTokens: number;
}

function toAnswer(output: readonly AgentOutputItem[], usage: SdkUsage): Answer {
  let text = '';
  const calls: Answer['calls'] = [];
  for (const item of output) {
    if (item.type === 'function_call') {
      calls.push({ id: item.callId, name: item.name, arguments: item.arguments });
    } else if ('role' in item && item.role === 'assistant') {
      text += item.content.map((part) => (part.type === 'output_text' ? part.text : '')).join('');
    }
  }
  return {
    text,
    calls,
    usage: { prompt: usage.inputTokens, completion: usage.outputTokens, total: usage.totalTokens },
  };
}

import type { Model } from '@openai/agents-core';
import type { Hono } from 'hono';
import type { Embedder } from '../../ports/embedder.ts';
import type { Runtime } from '../../ports/runtime.ts';
import { createHttpApp, type HttpAppOptions } from '../http/create-http-app.ts';
import { guardOrigin } from '../http/guard-host.ts';
import { readJson } from '../http/read-json.ts';
import type { AnswerHead } from '../wire/answer.ts';
import { chatStream, responseStream } from '../wire/answer-stream.ts';
import { chatCompletion } from '../wire/chat-completion.ts';
import type { ModelCall } from '../wire/model-call.ts';
import { readChatRequest } from '../wire/read-chat-request.ts';
import { readResponseRequest } from '../wire/read-response-request.ts';
import { RequestFault } from '../wire/request-fault.ts';
import { responseObject } from '../wire/response-object.ts';
import { embeddingsOf } from './embeddings.ts';
import { modelAnswer, modelAnswerEvents } from './model-answer.ts';

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

/** Serves one model, and one embedder, over the HTTP APIs of OpenAI, as far as conversations need them. */
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
    return chatStream({ head, call, events: modelAnswerEvents(model, call, signal), onCancel: abort });
  });

  app.post('/v1/responses', async (context) => {
    const call = readResponseRequest(await readJson(context.req.raw, MAX_BODY_BYTES), readOptions());
    const { head, signal, abort } = begin(call, context.req.raw.signal);
    if (!call.stream) return context.json(responseObject(head, call, await modelAnswer(model, call, signal)));
    return responseStream({ head, call, events: modelAnswerEvents(model, call, signal), onCancel: abort });
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

import { type Context, Hono } from 'hono';
import * as z from 'zod';
import { type Policy, policySchema } from '../../domain/agent-config.ts';
import { filterSchema } from '../../domain/query.ts';
import type { Runtime } from '../../ports/runtime.ts';
import { estimateTokens } from '../../text/estimate-tokens.ts';
import type { Callers } from '../http/callers.ts';
import { readFields, readJson } from '../http/read-request.ts';
import { RequestFault } from '../http/request-fault.ts';
import type { ServedCollections } from '../turns/served-collections.ts';
import type { StartedTurn, TurnRunner } from '../turns/turn-runner.ts';
import type { AnswerHead } from './answer.ts';
import { answerEvents, wholeAnswer } from './answer-events.ts';
import { chatCompletion, chatStream } from './chat-completion.ts';
import type { ModelCall } from './model-call.ts';
import { readChatRequest } from './read-chat-request.ts';
import { readResponseRequest } from './read-response-request.ts';
import { responseObject, responseStream } from './responses.ts';

const MODEL = 'citeloop';

interface OpenAiRoutesOptions {
  collections: ServedCollections;
  turns: TurnRunner;
  callers: Callers;
  policy: Policy;
  runtime: Runtime;
  maxBodyBytes: number;
}

const ownFieldsSchema = z
  .strictObject({ policy: policySchema.optional(), filter: filterSchema.optional() })
  .prefault({});

/** The whole agent behind the APIs of OpenAI. The caller keeps the conversation. */
export function openAiRoutes({
  collections,
  turns,
  callers,
  policy: configured,
  runtime,
  maxBodyBytes,
}: OpenAiRoutesOptions): Hono {
  const app = new Hono();
  const started = seconds();

  app.get('/models', async (context) => {
    const names = await collections.names();
    const ids = [MODEL, ...names.map((name) => `${MODEL}/${name}`)];
    return context.json({ object: 'list', data: ids.map(modelObject) });
  });
  app.get('/models/:model{.+}', async (context) => {
    const id = context.req.param('model');
    await collections.open(collectionOf(id));
    return context.json(modelObject(id));
  });

  app.post('/chat/completions', async (context) => {
    const call = readChatRequest(await readJson(context.req.raw, maxBodyBytes), readOptions());
    const { head, events, abandon } = await begin(context, call);
    if (!call.stream) return context.json(chatCompletion(head, await wholeAnswer(events)));
    return chatStream(call, { head, events: answerEvents(events), onCancel: abandon });
  });

  app.post('/responses', async (context) => {
    const call = readResponseRequest(await readJson(context.req.raw, maxBodyBytes), readOptions());
    const { head, events, abandon } = await begin(context, call);
    if (!call.stream) return context.json(responseObject(head, call, await wholeAnswer(events)));
    return responseStream(call, { head, events: answerEvents(events), onCancel: abandon });
  });
  return app;

  async function begin(context: Context, call: ModelCall): Promise<StartedTurn & { head: AnswerHead }> {
    if (call.tools.length > 0) {
      throw new RequestFault(400, 'tools are not supported: the agent behind this model uses its own.', {
        code: 'unsupported_parameter',
        param: 'tools',
      });
    }
    const { policy = configured, filter } = readFields(z.object({ citeloop: ownFieldsSchema }), {
      citeloop: call.body.citeloop ?? {},
    }).citeloop;
    const conversation = splitConversation(call);
    const { agent } = await collections.open(collectionOf(call.model));
    const free = callers.takeTurn(context.req.raw);
    const turn = await turns
      .start(
        (emit, signal) => agent.answer(conversation, emit, { policy, ...(filter && { filter }), signal }),
        context.req.raw.signal,
      )
      .catch((error: unknown) => {
        free();
        throw error;
      });
    turn.ended.finally(free);
    return { ...turn, head: { id: runtime.newId(), createdAt: seconds(), model: call.model } };
  }

  function collectionOf(model: string): string {
    if (model === MODEL) return collections.defaultName;
    if (model.startsWith(`${MODEL}/`)) return model.slice(MODEL.length + 1);
    throw new RequestFault(404, 'There is no such model; GET /v1/models lists those there are.', {
      code: 'model_not_found',
      param: 'model',
    });
  }

  function readOptions() {
    return { nextId: runtime.newId, timestamp: runtime.now().toISOString(), countTokens: estimateTokens };
  }

  function modelObject(id: string) {
    return { id, object: 'model', created: started, owned_by: 'citeloop' };
  }

  function seconds(): number {
    return Math.floor(runtime.now().getTime() / 1000);
  }
}

function splitConversation({ messages }: ModelCall) {
  const last = messages.at(-1);
  if (last?.role !== 'user') {
    throw new RequestFault(400, 'The last message must be a question of the user.', {
      code: 'invalid_value',
    });
  }
  return { question: last.content, history: messages.slice(0, -1) };
}

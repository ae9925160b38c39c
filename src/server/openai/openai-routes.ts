import { type Context, Hono } from 'hono';
import type { RetrievalPolicy } from '../../domain/agent-config.ts';
import type { Runtime } from '../../ports/runtime.ts';
import type { ApiOptions } from '../api/session-access.ts';
import { HttpError } from '../http/http-error.ts';
import { readJsonBody } from '../http/parse-body.ts';
import type { StartedTurn } from '../turns/turn-runner.ts';
import { type AnswerIdentity, collectAnswer, streamAnswer } from './agent-answer.ts';
import { streamChatCompletion, toChatCompletion } from './chat-completions.ts';
import { type AgentRequest, parseChatRequest, parseResponseRequest } from './parse-request.ts';
import { streamResponseObject, toResponseObject } from './responses.ts';

const MODEL = 'citeloop';

/** `policy` is used by requests that name none. */
interface OpenAiRoutesOptions extends ApiOptions {
  policy: RetrievalPolicy;
  runtime: Runtime;
}

/** The agent behind OpenAI's APIs, stateless: each request holds the whole conversation. */
export function createOpenAiRoutes({
  collections,
  turns,
  callers,
  policy: defaultPolicy,
  runtime,
  maxBodyBytes,
}: OpenAiRoutesOptions): Hono {
  const app = new Hono();
  const startedAt = nowInSeconds();

  app.get('/models', async (context) => {
    const names = await collections.names();
    const ids = [MODEL, ...names.map((name) => `${MODEL}/${name}`)];
    return context.json({ object: 'list', data: ids.map(toModelObject) });
  });
  app.get('/models/:model{.+}', async (context) => {
    const id = context.req.param('model');
    await openModel(id);
    return context.json(toModelObject(id));
  });

  app.post('/chat/completions', async (context) => {
    const request = parseChatRequest(await readJsonBody(context.req.raw, maxBodyBytes), runtime);
    const { identity, events, abandon: onCancel } = await startTurn(context, request);
    if (!request.stream) return context.json(toChatCompletion(identity, await collectAnswer(events)));
    return streamChatCompletion({ identity, events: streamAnswer(events), onCancel }, request.includeUsage);
  });

  app.post('/responses', async (context) => {
    const request = parseResponseRequest(await readJsonBody(context.req.raw, maxBodyBytes), runtime);
    const { identity, events, abandon: onCancel } = await startTurn(context, request);
    if (!request.stream) return context.json(toResponseObject(identity, await collectAnswer(events)));
    return streamResponseObject({ identity, events: streamAnswer(events), onCancel });
  });
  return app;

  async function startTurn(
    context: Context,
    { model, question, history, policy = defaultPolicy, filter }: AgentRequest,
  ): Promise<StartedTurn & { identity: AnswerIdentity }> {
    const { agent } = await openModel(model);
    const release = callers.takeTurn(context.req.raw);
    const turn = await turns
      .start(
        (emit, signal) =>
          agent.answer({ question, history }, emit, { policy, ...(filter && { filter }), signal }),
        context.req.raw.signal,
      )
      .catch((error: unknown) => {
        release();
        throw error;
      });
    turn.ended.finally(release);
    return { ...turn, identity: { id: runtime.newId(), createdAt: nowInSeconds(), model } };
  }

  /** The collection that a model stands for. */
  async function openModel(model: string) {
    try {
      if (model === MODEL) return await collections.open(collections.defaultName);
      if (model.startsWith(`${MODEL}/`)) return await collections.open(model.slice(MODEL.length + 1));
    } catch (error) {
      if (!(error instanceof HttpError && error.code === 'collection_not_found')) throw error;
    }
    throw new HttpError(404, 'model_not_found', 'Unknown model. GET /v1/models lists the models.', {
      param: 'model',
    });
  }

  function toModelObject(id: string) {
    return { id, object: 'model', created: startedAt, owned_by: 'citeloop' };
  }

  function nowInSeconds(): number {
    return Math.floor(runtime.now().getTime() / 1000);
  }
}

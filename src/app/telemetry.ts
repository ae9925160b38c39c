import { AsyncLocalStorage } from 'node:async_hooks';
import type { ModelResponse } from '@openai/agents-core';
import type { Attributes, Span } from '@opentelemetry/api';
import type { Agent, AgentSession } from '../agent/agent.ts';
import { finishReasonOf, type StreamedResponse } from '../agent/model-response.ts';
import type { TurnTracer } from '../agent/turn.ts';
import type { AppConfig } from '../config/load-config.ts';
import { providerAt } from '../config/service-access.ts';
import type { RunEvent } from '../domain/run-event.ts';
import { OFFLINE_MODEL } from '../domain/setting-choices.ts';
import { AppError } from '../faults/app-error.ts';
import { getField } from '../faults/network-errors.ts';
import type { Retriever } from '../retrieval/create-retriever.ts';

export interface TelemetryOptions {
  /** Whether spans contain questions, queries, arguments and answers; default false. */
  content?: boolean;
}

/** Wraps what makes OpenTelemetry spans, by the GenAI conventions. */
export interface Telemetry {
  retriever(retriever: Retriever, collection: string): Retriever;
  /** For an agent and what it calls; `isOwn` if its model is an object of the caller. */
  forAgent(config: AppConfig, isOwn: boolean): TurnTracer & { agent(agent: Agent): Agent };
}

const [INTERNAL, CLIENT, ERROR] = [0, 2, 2];

/** Spans go to the tracer provider that the process has registered, or nowhere. */
export async function createTelemetry({ content = false }: TelemetryOptions): Promise<Telemetry> {
  const { context, trace } = await import('@opentelemetry/api');
  const tracer = trace.getTracer('citeloop');
  /** The parent of new spans in a process without a context manager. */
  const parents = new AsyncLocalStorage<Span>();

  /** `texts` are the attributes that are content. */
  function start(kind: number, operation: string, subject: string, about: Attributes, texts: Attributes) {
    const active = context.active();
    const parent = trace.getSpan(active) ?? parents.getStore();
    const attributes = { 'gen_ai.operation.name': operation, ...about, ...(content && texts) };
    const around = parent === undefined ? active : trace.setSpan(active, parent);
    return tracer.startSpan(`${operation} ${subject}`, { kind, attributes }, around);
  }

  async function* traceStream<T>(span: Span, events: AsyncIterator<T>, record: (event: T) => void) {
    const inner = trace.setSpan(context.active(), span);
    const readNext = () => parents.run(span, () => context.with(inner, () => events.next()));
    try {
      for (let next = await readNext(); !next.done; next = await readNext()) {
        record(next.value);
        yield next.value;
      }
    } catch (error) {
      markFailed(span, error);
      throw error;
    } finally {
      await events.return?.();
      span.end();
    }
  }

  async function traceCall<T>(span: Span, work: () => Promise<T>, record: (result: T) => void) {
    const call = (async function* () {
      yield await work();
    })();
    let result: T | undefined;
    for await (const value of traceStream(span, call, record)) result = value;
    return result as T;
  }

  function recordTurn(span: Span, event: RunEvent): void {
    if (event.type === 'error') {
      span.setAttribute('error.type', event.error.errorType);
      span.setStatus({ code: ERROR, message: event.error.message });
    } else if (event.type === 'turn_completed') {
      const { sessionId, tokensUsed, finishReason, grounded, citations, answer } = event.turn.response;
      span.setAttributes({
        'gen_ai.conversation.id': sessionId,
        'gen_ai.usage.input_tokens': tokensUsed.prompt,
        'gen_ai.usage.output_tokens': tokensUsed.completion,
        'gen_ai.response.finish_reasons': [finishReason],
        'citeloop.grounded': grounded,
        'citeloop.citations': citations.length,
        ...(content && { 'gen_ai.output.messages': toMessages('assistant', answer) }),
      });
    }
  }

  return {
    retriever: (retriever, collection) => ({
      async retrieve(query, signal) {
        const about = { 'gen_ai.data_source.id': collection, 'gen_ai.request.top_k': query.topK };
        const texts = { 'gen_ai.retrieval.query.text': query.text };
        const span = start(CLIENT, 'retrieval', collection, about, texts);
        const search = () => retriever.retrieve(query, signal);
        return traceCall(span, search, ({ context }) =>
          span.setAttribute('citeloop.passages', context.chunks.length),
        );
      },
    }),

    forAgent({ agent: { model: name, policy: usual }, modelService }, isOwn) {
      const isLocal = isOwn || name === OFFLINE_MODEL;
      const provider = isLocal ? 'citeloop' : providerAt(modelService.baseUrl);
      const about = { 'gen_ai.request.model': name, 'gen_ai.provider.name': provider };
      const startTurn = (question: string, policy = usual) => {
        const turn = { ...about, 'gen_ai.agent.name': 'citeloop', 'citeloop.policy': policy };
        const texts = { 'gen_ai.input.messages': toMessages('user', question) };
        return start(INTERNAL, 'invoke_agent', 'citeloop', turn, texts);
      };
      const startChat = () => start(isLocal ? INTERNAL : CLIENT, 'chat', name, about, {});
      const traceSession = (session: AgentSession): AgentSession => ({
        ...session,
        async *ask(question, options) {
          const span = startTurn(question, options?.policy ?? session.snapshot().policy);
          span.setAttribute('gen_ai.conversation.id', session.id);
          yield* traceStream(span, session.ask(question, options), (event) => recordTurn(span, event));
        },
      });

      return {
        agent: (agent) => ({
          startSession: async (options) => traceSession(await agent.startSession(options)),
          resumeSession: async (id) => traceSession(await agent.resumeSession(id)),
          async answer(conversation, emit, options) {
            const span = startTurn(conversation.question, options?.policy);
            const record = (event: RunEvent) => {
              recordTurn(span, event);
              emit(event);
            };
            await traceCall(
              span,
              () => agent.answer(conversation, record, options),
              () => {},
            );
          },
        }),
        model: (model) => ({
          async getResponse(request) {
            const span = startChat();
            const call = () => model.getResponse(request);
            return traceCall(span, call, (response) => recordResponse(span, response));
          },
          async *getStreamedResponse(request) {
            const span = startChat();
            const events = model.getStreamedResponse(request)[Symbol.asyncIterator]();
            yield* traceStream(span, events, (event) => {
              if (event.type === 'model') recordModel(span, getField(event.event, 'response') ?? event.event);
              if (event.type === 'response_done') recordResponse(span, event.response);
            });
          },
        }),
        tool(tool) {
          if (tool.type !== 'function') return tool;
          return {
            ...tool,
            async invoke(run, input, details) {
              const id = details?.toolCall?.callId;
              const about = { 'gen_ai.tool.name': tool.name, 'gen_ai.tool.call.id': id };
              const texts = { 'gen_ai.tool.call.arguments': input };
              const span = start(INTERNAL, 'execute_tool', tool.name, about, texts);
              const call = () => tool.invoke(run, input, details);
              return traceCall(span, call, (result) => {
                if (content) span.setAttribute('gen_ai.tool.call.result', JSON.stringify(result));
              });
            },
          };
        },
      };
    },
  };
}

function recordResponse(span: Span, response: ModelResponse | StreamedResponse): void {
  const isCall = response.output.some(({ type }) => type === 'function_call');
  span.setAttributes({
    'gen_ai.usage.input_tokens': response.usage.inputTokens,
    'gen_ai.usage.output_tokens': response.usage.outputTokens,
    'gen_ai.response.finish_reasons': [isCall ? 'tool_call' : finishReasonOf(response)],
  });
  recordModel(span, response.providerData);
}

/** Records the model that the provider names, if it does. */
function recordModel(span: Span, response: unknown): void {
  const model = getField(response, 'model');
  if (typeof model === 'string') span.setAttribute('gen_ai.response.model', model);
}

/** Only the messages of AppErrors are known to have no keys. */
function markFailed(span: Span, error: unknown): void {
  const known = error instanceof AppError;
  span.setAttribute('error.type', known ? error.kind : String(getField(error, 'status') ?? '_OTHER'));
  span.setStatus({ code: ERROR, ...(known && { message: error.message }) });
}

function toMessages(role: 'user' | 'assistant', content: string): string {
  return JSON.stringify([{ role, parts: [{ type: 'text', content }] }]);
}

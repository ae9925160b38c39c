import type { Span, Tracer } from '@opentelemetry/api';
import type { AgentSession } from '../agent/agent.ts';
import type { RunEvent } from '../domain/run-event.ts';
import { AppError } from '../faults/app-error.ts';

export interface TelemetryOptions {
  /** Whether spans contain questions, queries, arguments and answers; default false. */
  content?: boolean;
}

type Attributes = Record<string, string | number | boolean | string[]>;

/** Loads OpenTelemetry, an optional peer. Throws `configuration_error` if it is not installed. */
export async function loadTelemetry() {
  const api = await import('@opentelemetry/api').catch((error: unknown) => {
    throw new AppError('configuration_error', 'Telemetry needs the package @opentelemetry/api.', {
      hint: 'Install it: npm install @opentelemetry/api',
      cause: error,
    });
  });
  const tracer = api.trace.getTracer('citeloop');
  return (session: AgentSession, model: string, options: TelemetryOptions) =>
    traceSession(session, model, options, tracer, (parent) =>
      api.trace.setSpan(api.context.active(), parent),
    );
}

/** A session whose turns are spans by the GenAI conventions: agent, model calls, tools and searches. */
function traceSession(
  session: AgentSession,
  model: string,
  { content = false }: TelemetryOptions,
  tracer: Tracer,
  inside: (parent: Span) => Parameters<Tracer['startSpan']>[2],
): AgentSession {
  return {
    ...session,
    async *ask(question, options) {
      const turn = tracer.startSpan('invoke_agent citeloop', {
        attributes: {
          'gen_ai.operation.name': 'invoke_agent',
          'gen_ai.agent.name': 'citeloop',
          'gen_ai.conversation.id': session.id,
          'gen_ai.request.model': model,
          'citeloop.policy': options?.policy ?? session.snapshot().policy,
          ...(content && { 'citeloop.question': question }),
        },
      });
      const open = new Map<string, Span>();
      const begin = (key: string, name: string, attributes: Attributes, parent = turn) =>
        open.set(key, tracer.startSpan(name, { attributes }, inside(parent)));
      const end = (keep: (key: string) => boolean = () => false) => {
        for (const [key, span] of open) if (!keep(key)) open.delete(key) && span.end();
      };
      const fail = (span: Span, type: string, message: string) =>
        span.setAttribute('error.type', type).setStatus({ code: 2, message });
      const record = (event: RunEvent) => {
        if (event.type === 'phase' && event.to === 'generating') {
          end();
          const chat = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': model };
          begin('chat', `chat ${model}`, chat);
        } else if (event.type === 'tool_call') {
          end((key) => key !== 'chat');
          const { id, name, arguments: args } = event.call;
          begin(`tool ${id}`, `execute_tool ${name}`, {
            'gen_ai.operation.name': 'execute_tool',
            'gen_ai.tool.name': name,
            'gen_ai.tool.call.id': id,
            ...(content && { 'gen_ai.tool.call.arguments': args }),
          });
        } else if (event.type === 'retrieval_started') {
          const { retrievalId, query, topK } = event;
          const parent = open.get(`tool ${retrievalId}`);
          const text = content ? { 'gen_ai.retrieval.query.text': query } : {};
          const search = { 'gen_ai.operation.name': 'retrieval', 'gen_ai.request.top_k': topK, ...text };
          begin(`retrieval ${retrievalId}`, 'retrieval', search, parent);
        } else if (event.type === 'retrieval_finished') {
          const key = `retrieval ${event.retrievalId}`;
          const span = open.get(key)?.setAttribute('citeloop.passages', event.context?.chunks.length ?? 0);
          if (span && event.error) fail(span, event.error.errorType, event.error.message);
          end((other) => other !== key);
        } else if (event.type === 'turn_completed') {
          const { tokensUsed, finishReason, grounded, citations, answer } = event.turn.response;
          turn.setAttributes({
            'gen_ai.usage.input_tokens': tokensUsed.prompt,
            'gen_ai.usage.output_tokens': tokensUsed.completion,
            'gen_ai.response.finish_reasons': [finishReason],
            'citeloop.grounded': grounded,
            'citeloop.citations': citations.length,
            ...(content && { 'citeloop.answer': answer }),
          });
        } else if (event.type === 'error') fail(turn, event.error.errorType, event.error.message);
      };
      try {
        for await (const event of session.ask(question, options)) {
          record(event);
          yield event;
        }
      } catch (error) {
        fail(
          turn,
          error instanceof AppError ? error.kind : '_OTHER',
          error instanceof Error ? error.message : '',
        );
        throw error;
      } finally {
        end();
        turn.end();
      }
    },
  };
}

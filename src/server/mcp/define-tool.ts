import type { CallToolResult, McpServer, ServerContext, ToolAnnotations } from '@modelcontextprotocol/server';
import type * as z from 'zod';
import { AppError, messageOf } from '../../faults/app-error.ts';
import { messageWithHint, toErrorResponse } from '../../faults/error-response.ts';
import { visibleText } from '../../text/visible-text.ts';
import { INTERNAL_ERROR_MESSAGE } from '../http/http-error.ts';
import type { CallLimiter } from './call-limiter.ts';
import type { McpLibrary } from './mcp-library.ts';

interface ToolCallContext {
  /** Aborts with an AppError when the client cancels or disconnects. */
  signal: AbortSignal;
  /** Sends a progress message if the client asked for progress. */
  report(message: string): void;
}

interface ToolDefinition<Input extends z.ZodObject, Output extends z.ZodObject> {
  name: string;
  title: string;
  description: string;
  input: Input;
  output: Output;
  annotations: ToolAnnotations;
  /** Returns structured content; fields that `output` does not have are removed. Errors become error results. */
  run(args: z.output<Input>, call: ToolCallContext): Promise<z.input<Output>>;
}

interface RegisterOptions extends Pick<McpLibrary, 'withoutSecrets'> {
  tracker: CallLimiter;
  onError: (message: string) => void;
}

/** Adds a tool to a server. */
export type RegisterTool = (server: McpServer, options: RegisterOptions) => void;

/** A tool whose calls are tracked, can be cancelled, report progress and never throw. */
export function defineTool<Input extends z.ZodObject, Output extends z.ZodObject>(
  definition: ToolDefinition<Input, Output>,
): RegisterTool {
  const { name, input, output, run, ...description } = definition;
  const config = { ...description, inputSchema: input as z.ZodObject, outputSchema: output as z.ZodObject };
  return (server, { tracker, onError, withoutSecrets }) => {
    server.registerTool(name, config, async (args, { mcpReq }) => {
      const progress = createProgress(mcpReq);
      try {
        const signal = AbortSignal.any([toAppErrorSignal(mcpReq.signal), tracker.signal]);
        const call = { signal, report: progress.report };
        return toToolResult(output.parse(await tracker.track(() => run(input.parse(args), call))));
      } catch (error) {
        if (!(error instanceof AppError)) onError(`${name} failed: ${messageOf(error)}`);
        return toErrorResult(error, withoutSecrets);
      } finally {
        await progress.sent();
      }
    });
  };
}

/** A signal that always aborts with an AppError, whatever the client gave as the reason. */
function toAppErrorSignal(signal: AbortSignal): AbortSignal {
  const controller = new AbortController();
  const abort = () => controller.abort(new AppError('interrupted', 'The request was cancelled.'));
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  return controller.signal;
}

/** Sends progress notifications in order, if the client asked for progress. */
function createProgress({ _meta, notify, signal }: ServerContext['mcpReq']) {
  const progressToken = _meta?.progressToken;
  let progress = 0;
  let sending = Promise.resolve();
  return {
    report(message: string): void {
      if (progressToken === undefined) return;
      progress += 1;
      const params = { progressToken, progress, message };
      sending = sending.then(async () => {
        if (!signal.aborted) await notify({ method: 'notifications/progress', params }).catch(() => {});
      });
    },
    /** Resolves when all notifications are sent; a result must not overtake them. */
    sent: () => sending,
  };
}

/**
 * The same content in structured form and, for clients that ignore it, as text. Without control characters, since some
 * clients print it to a terminal.
 */
function toToolResult(result: Record<string, unknown>): CallToolResult {
  const text = JSON.stringify(result, (_, value) => (typeof value === 'string' ? visibleText(value) : value));
  return { content: [{ type: 'text', text }], structuredContent: JSON.parse(text) };
}

/** An error as a sentence with a hint, for the model to act on or to pass on. */
function toErrorResult(error: unknown, withoutSecrets: (text: string) => string): CallToolResult {
  const failure =
    error instanceof AppError
      ? error
      : new AppError('api_error', INTERNAL_ERROR_MESSAGE, { hint: 'See the log of citeloop on stderr.' });
  const { errorType, retryAfter, recoverable } = toErrorResponse(failure);
  return {
    isError: true,
    content: [{ type: 'text', text: visibleText(withoutSecrets(messageWithHint(failure))) }],
    _meta: { 'citeloop/error': { errorType, retryAfter, recoverable } },
  };
}

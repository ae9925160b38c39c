import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type {
  CallToolResult,
  ServerNotification,
  ServerRequest,
  ToolAnnotations,
} from '@modelcontextprotocol/sdk/types.js';
import type * as z from 'zod';
import { AppError, messageOf } from '../../faults/app-error.ts';
import { hintOf, toErrorResponse } from '../../faults/error-response.ts';
import { visibleText } from '../../text/visible-text.ts';
import type { CallTracker } from './call-tracker.ts';
import type { Library } from './library.ts';

/** A call under way. */
export interface Call {
  /** Raised with an AppError when the client cancels or goes away. */
  signal: AbortSignal;
  /** Tells the client what is being done, if it wants to hear it. */
  report(message: string): void;
}

interface ToolDefinition<Input extends z.ZodObject, Output extends z.ZodObject> {
  name: string;
  title: string;
  description: string;
  input: Input;
  output: Output;
  annotations: ToolAnnotations;
  /** What it returns is structured content; what it throws becomes an error result. */
  run(args: z.output<Input>, call: Call): Promise<z.input<Output>>;
}

/** A tool of the server, whatever it takes and gives. */
export interface Tool extends Omit<ToolDefinition<z.ZodObject, z.ZodObject>, 'run'> {
  /** Throws for arguments that are none of its own. */
  run(args: unknown, call: Call): Promise<Record<string, unknown>>;
}

/** A tool as a server takes it: its arguments are what its own schema makes of them. */
export function defineTool<Input extends z.ZodObject, Output extends z.ZodObject>(
  definition: ToolDefinition<Input, Output>,
): Tool {
  return { ...definition, run: (args, call) => definition.run(definition.input.parse(args), call) };
}

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

interface Surroundings extends Pick<Library, 'withoutSecrets'> {
  tracker: CallTracker;
  onFault: (message: string) => void;
}

/** Adds a tool to a server: its calls are counted, can be cancelled and report progress, and never throw. */
export function registerTool(server: McpServer, tool: Tool, surroundings: Surroundings): void {
  const { tracker, onFault, withoutSecrets } = surroundings;
  const { name, title, description, annotations, input: inputSchema, output: outputSchema } = tool;
  const config = { title, description, annotations, inputSchema, outputSchema };
  server.registerTool(
    name,
    config,
    async (args: Record<string, unknown>, extra: Extra): Promise<CallToolResult> => {
      const progress = createProgress(extra);
      try {
        const call = {
          signal: AbortSignal.any([cancelled(extra.signal), tracker.signal]),
          report: progress.report,
        };
        return toolResult(await tracker.track(() => tool.run(args, call)));
      } catch (error) {
        if (!(error instanceof AppError)) onFault(`${name} failed: ${messageOf(error)}`);
        return toolFailure(error, withoutSecrets);
      } finally {
        await progress.sent();
      }
    },
  );
}

/** The client's reason may be anything, or nothing; what the signal throws in here is always an AppError. */
function cancelled(signal: AbortSignal): AbortSignal {
  const controller = new AbortController();
  const abort = () => controller.abort(new AppError('interrupted', 'The request was cancelled.'));
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  return controller.signal;
}

/** Notifications in the order of the reports, if the client asked for any. */
function createProgress({ _meta, sendNotification, signal }: Extra) {
  const progressToken = _meta?.progressToken;
  let progress = 0;
  let sending = Promise.resolve();
  return {
    report(message: string): void {
      if (progressToken === undefined) return;
      progress += 1;
      const params = { progressToken, progress, message };
      sending = sending.then(async () => {
        if (!signal.aborted)
          await sendNotification({ method: 'notifications/progress', params }).catch(() => {});
      });
    },
    /** A result must not overtake what led to it. */
    sent: () => sending,
  };
}

/** Programs read the structured content; clients that know none of it give the model the same as text. */
function toolResult(result: Record<string, unknown>): CallToolResult {
  const structuredContent = visibleContent(result);
  return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
}

/** A failure in a sentence with what to do next, for the model to act on or to pass on. */
function toolFailure(error: unknown, withoutSecrets: (text: string) => string): CallToolResult {
  const failure = error instanceof AppError ? error : hiddenDefect();
  const { errorType, retryAfter, recoverable } = toErrorResponse(failure);
  return {
    isError: true,
    content: [{ type: 'text', text: visibleText(withoutSecrets(`${failure.message} ${hintOf(failure)}`)) }],
    _meta: { 'citeloop/error': { errorType, retryAfter, recoverable } },
  };
}

/** What a defect of ours says is for the log, not for whoever called. */
function hiddenDefect(): AppError {
  return new AppError('api_error', 'Something went wrong that should not have.', {
    hint: 'This is a defect of citeloop; its log on stderr says more.',
  });
}

/** Every text in it made visible: clients print what documents say, some to a terminal. */
function visibleContent(result: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(result).map(([key, part]) => [key, visible(part)]));
}

function visible(value: unknown): unknown {
  if (typeof value === 'string') return visibleText(value);
  if (Array.isArray(value)) return value.map(visible);
  return value === null || typeof value !== 'object' ? value : visibleContent({ ...value });
}

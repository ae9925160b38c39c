import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { CallToolResult, ServerNotification, ServerRequest } from '@modelcontextprotocol/sdk/types.js';
import { AppError, messageOf } from '../domain/app-error.ts';
import type { CallTracker } from './call-tracker.ts';
import type { Library } from './library.ts';
import type { Tool } from './tool.ts';
import { toolFailure, toolResult } from './tool-result.ts';

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
        const result = await tracker.track(() => tool.run(args, call));
        return toolResult(result);
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

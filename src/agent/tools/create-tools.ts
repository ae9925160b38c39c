import { type FunctionTool, tool } from '@openai/agents-core';
import type { ToolName } from '../../domain/agent-config.ts';
import { AppError } from '../../domain/app-error.ts';
import {
  READ_SOURCE,
  type ReadSourceResponse,
  readSourceDescription,
  readSourceJsonSchema,
} from './read-source.ts';
import { searchArgumentsJsonSchema } from './search-arguments.ts';
import { type SearchExecutor, searchDescriptions } from './search-tool.ts';

export interface ToolParts {
  toolName: ToolName;
  search: SearchExecutor;
  /** Left out if the model may not read around a hit. */
  readSource?: ((args: unknown) => Promise<ReadSourceResponse>) | undefined;
  /** Asked before each step: from then on the tools are there no more. */
  isEnabled: () => boolean;
  newId: () => string;
  signal?: AbortSignal | undefined;
}

/**
 * The tools as the SDK takes them. Arguments are described by a strict JSON schema and checked by the executor
 * itself, so that the model is told what was wrong with them; the SDK would keep that to itself.
 */
export function createTools({
  toolName,
  search,
  readSource,
  isEnabled,
  newId,
  signal,
}: ToolParts): FunctionTool[] {
  const searchTool = tool({
    name: toolName,
    description: searchDescriptions[toolName],
    strict: true,
    parameters: searchArgumentsJsonSchema as never,
    isEnabled,
    errorFunction: endOrTell,
    execute: async (args, _context, details) =>
      JSON.stringify(await search(args, details?.toolCall?.callId ?? newId(), signal)),
  });
  if (readSource === undefined) return [searchTool];
  const readSourceTool = tool({
    name: READ_SOURCE,
    description: readSourceDescription,
    strict: true,
    parameters: readSourceJsonSchema as never,
    isEnabled,
    execute: async (args) => JSON.stringify(await readSource(args)),
  });
  return [searchTool, readSourceTool];
}

/** What the executor throws ends the turn; arguments that are no JSON do not reach it, and the model tries again. */
function endOrTell(_context: unknown, error: unknown): string {
  if (error instanceof AppError) throw error;
  return 'An error occurred while running the tool. Please try again.';
}

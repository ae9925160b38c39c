import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { AppError } from '../domain/app-error.ts';
import { hintOf, toErrorResponse } from '../domain/error-response.ts';
import { visibleText } from '../domain/visible-text.ts';
import { visibleContent } from './visible-content.ts';

/** Programs read the structured content; clients that know none of it give the model the same as text. */
export function toolResult(result: Record<string, unknown>): CallToolResult {
  const structuredContent = visibleContent(result);
  return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
}

/** A failure in a sentence with what to do next, for the model to act on or to pass on. */
export function toolFailure(error: unknown, withoutSecrets: (text: string) => string): CallToolResult {
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

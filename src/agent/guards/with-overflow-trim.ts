import type { AgentInputItem, Model, ModelRequest } from '@openai/agents-core';
import { parseContextWindow } from '../../domain/context-window.ts';
import { keepFirstPassages } from '../../domain/prompts.ts';
import { parseToolResponse } from '../../domain/retrieval-tool-response.ts';
import { AppError } from '../../faults/app-error.ts';
import { estimateTokens } from '../../text/estimate-tokens.ts';

/** Leaves a margin, because tokens are estimated. */
const MARGIN = 0.8;

/**
 * A model that shortens a request after a `context_overflow` error and retries once: drops the oldest messages, then the
 * last passages of each search. Later requests are shortened to the same size. `onTrim` gets the window that the service
 * reported, if any, and the size that requests are shortened to.
 */
export function withOverflowTrim(
  model: Model,
  onTrim: (window: number | undefined, accepted: number) => void,
): Model {
  let maxTokens: number | undefined;

  const trimmed = (request: ModelRequest) =>
    maxTokens === undefined ? request : trimRequest(request, maxTokens);

  /** The request for the retry; rethrows other errors, and if nothing can be dropped. */
  function trimAfter(request: ModelRequest, error: unknown): ModelRequest {
    if (!(error instanceof AppError) || error.kind !== 'context_overflow' || maxTokens !== undefined)
      throw error;
    const window = parseContextWindow(error.message);
    const size = sizeOf(request);
    const allowed =
      window === undefined ? size / 2 : MARGIN * window - (request.modelSettings.maxTokens ?? 0);
    maxTokens = Math.min(MARGIN * size, allowed);
    const again = trimmed(request);
    if (sizeOf(again) >= size) throw error;
    onTrim(window, maxTokens);
    return again;
  }

  return {
    async getResponse(request) {
      try {
        return await model.getResponse(trimmed(request));
      } catch (error) {
        return model.getResponse(trimAfter(request, error));
      }
    },
    async *getStreamedResponse(request) {
      let begun = false;
      let again: ModelRequest;
      try {
        for await (const event of model.getStreamedResponse(trimmed(request))) {
          begun ||= event.type === 'output_text_delta';
          yield event;
        }
        return;
      } catch (error) {
        if (begun) throw error;
        again = trimAfter(request, error);
      }
      yield* model.getStreamedResponse(again);
    },
  };
}

function sizeOf({ systemInstructions = '', input, tools }: ModelRequest): number {
  return estimateTokens(systemInstructions) + estimateTokens(JSON.stringify([input, tools]));
}

/** Drops messages and passages until the request fits; the question and one passage per search always stay. */
function trimRequest(request: ModelRequest, maxTokens: number): ModelRequest {
  if (typeof request.input === 'string') return request;
  let items = request.input;
  const isTooLong = () => sizeOf({ ...request, input: items }) > maxTokens;
  while (isTooLong()) {
    const next = items.findIndex((item, index) => index > 0 && isUser(item));
    if (next < 0) break;
    items = items.slice(next);
  }
  for (let max = 10; max >= 1 && isTooLong(); max -= 1) items = items.map((item) => limitPassages(item, max));
  return { ...request, input: items };
}

function isUser(item: AgentInputItem): boolean {
  return 'role' in item && item.role === 'user';
}

/** Keeps the first passages of a search result, or of a question with passages. */
function limitPassages(item: AgentInputItem, max: number): AgentInputItem {
  if ('role' in item && item.role === 'user' && typeof item.content === 'string') {
    return { ...item, content: keepFirstPassages(item.content, max) };
  }
  if (item.type !== 'function_call_result') return item;
  const text = typeof item.output === 'string' ? item.output : 'text' in item.output ? item.output.text : '';
  const response = parseToolResponse(text);
  if (response === null || response.results.length <= max) return item;
  const results = response.results.slice(0, max);
  const leftOut = (response.left_out?.count ?? 0) + response.results.length - max;
  const fewer = { ...response, results, total: max, left_out: { reason: 'no_room', count: leftOut } };
  return { ...item, output: { type: 'text' as const, text: JSON.stringify(fewer) } };
}

import type { AgentInputItem, Model, ModelRequest } from '@openai/agents-core';
import { parseContextWindow } from '../../domain/context-window.ts';
import { keepFirstPassages } from '../../domain/prompts.ts';
import { readToolResponse } from '../../domain/retrieval-tool-response.ts';
import { AppError } from '../../faults/app-error.ts';
import { estimateTokens } from '../../text/estimate-tokens.ts';

/** Tokens are only estimated here, and the answer needs some too. */
const MARGIN = 0.8;

interface OverflowOptions {
  /** Told when a request was shortened: with the window that the service told of, if it did. */
  onTrim(window: number | undefined): void;
}

/**
 * A model that shortens a request which its service found too long, once, and tries again: the oldest exchanges go first,
 * then the passages that scored least. What follows in the same turn is shortened in the same way. Expects AppErrors.
 */
export function withOverflowTrim(model: Model, { onTrim }: OverflowOptions): Model {
  let maxTokens: number | undefined;

  const fitting = (request: ModelRequest) =>
    maxTokens === undefined ? request : shortened(request, maxTokens);

  /** The request to try again with; throws if there is no point in it. */
  function shorter(request: ModelRequest, error: unknown): ModelRequest {
    if (!(error instanceof AppError) || error.kind !== 'context_overflow' || maxTokens !== undefined)
      throw error;
    const window = parseContextWindow(error.message);
    const size = sizeOf(request);
    const told = window === undefined ? size / 2 : MARGIN * window - (request.modelSettings.maxTokens ?? 0);
    maxTokens = Math.min(MARGIN * size, told);
    const again = fitting(request);
    if (sizeOf(again) >= size) throw error;
    onTrim(window);
    return again;
  }

  return {
    async getResponse(request) {
      try {
        return await model.getResponse(fitting(request));
      } catch (error) {
        return model.getResponse(shorter(request, error));
      }
    },
    async *getStreamedResponse(request) {
      let begun = false;
      let again: ModelRequest;
      try {
        for await (const event of model.getStreamedResponse(fitting(request))) {
          begun ||= event.type === 'output_text_delta';
          yield event;
        }
        return;
      } catch (error) {
        if (begun) throw error;
        again = shorter(request, error);
      }
      yield* model.getStreamedResponse(again);
    },
  };
}

function sizeOf({ systemInstructions = '', input }: ModelRequest): number {
  return estimateTokens(systemInstructions) + estimateTokens(JSON.stringify(input));
}

/** The request with what fits: the system prompt, the question and the last passages of each search always stay. */
function shortened(request: ModelRequest, maxTokens: number): ModelRequest {
  if (typeof request.input === 'string') return request;
  let items = request.input;
  const excess = () => sizeOf({ ...request, input: items }) > maxTokens;
  while (excess()) {
    const next = items.findIndex((item, index) => index > 0 && isUser(item));
    if (next < 0) break;
    items = items.slice(next);
  }
  for (let most = 10; most >= 1 && excess(); most -= 1) items = items.map((item) => fewerIn(item, most));
  return { ...request, input: items };
}

function isUser(item: AgentInputItem): boolean {
  return 'role' in item && item.role === 'user';
}

/** A search result, or a question with passages in front of it, with at most so many of them. */
function fewerIn(item: AgentInputItem, most: number): AgentInputItem {
  if ('role' in item && item.role === 'user' && typeof item.content === 'string') {
    return { ...item, content: keepFirstPassages(item.content, most) };
  }
  if (item.type !== 'function_call_result') return item;
  const text = typeof item.output === 'string' ? item.output : 'text' in item.output ? item.output.text : '';
  const response = readToolResponse(text);
  if (response === null || response.results.length <= most) return item;
  const results = response.results.slice(0, most);
  const leftOut = (response.left_out?.count ?? 0) + response.results.length - most;
  const fewer = { ...response, results, total: most, left_out: { reason: 'no_room', count: leftOut } };
  return { ...item, output: { type: 'text' as const, text: JSON.stringify(fewer) } };
}

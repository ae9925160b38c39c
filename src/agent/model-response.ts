import type { ModelRequest, ModelResponse, StreamEvent } from '@openai/agents-core';
import type { FinishReason, TokensUsed } from '../domain/agent-response.ts';
import { getField } from '../faults/network-errors.ts';
import { estimateTokens } from '../text/estimate-tokens.ts';

export type StreamedResponse = Extract<StreamEvent, { type: 'response_done' }>['response'];
type ResponseOutput = StreamedResponse['output'] | ModelResponse['output'];

/** The text of a model response, without tool calls and reasoning. */
export function responseText(output: ResponseOutput): string {
  return output
    .flatMap((item) => (item.type === 'message' && item.role === 'assistant' ? item.content : []))
    .map((part) => (part.type === 'output_text' ? part.text : ''))
    .join('');
}

/** The tokens that the service counted; estimated, and marked so, if it did not count. */
export function responseTokens(
  { systemInstructions = '', input, tools }: ModelRequest,
  { usage, output }: { usage: { inputTokens: number; outputTokens: number }; output: ResponseOutput },
): TokensUsed {
  const prompt =
    usage.inputTokens || estimateTokens(systemInstructions + JSON.stringify(input) + JSON.stringify(tools));
  const completion = usage.outputTokens || estimateOutputTokens(output);
  const isEstimated = usage.inputTokens === 0 || usage.outputTokens === 0;
  return { prompt, completion, total: prompt + completion, ...(isEstimated && { estimated: true }) };
}

function estimateOutputTokens(output: ResponseOutput): number {
  const calls = output.map((item) => (item.type === 'function_call' ? item.name + item.arguments : ''));
  return estimateTokens(responseText(output) + calls.join(''));
}

/** The finish reasons of Chat Completions and of the Responses API for answers that were cut. */
const CUT_REASONS: Readonly<Record<string, FinishReason>> = {
  length: 'length',
  max_tokens: 'length',
  max_output_tokens: 'length',
  content_filter: 'content_filter',
};

interface WithProviderData {
  providerData?: Record<string, unknown> | undefined;
}

/** Why a response ended, from what its provider sent or `withFinishReason` stored. */
export function finishReasonOf({ providerData }: WithProviderData): FinishReason {
  const [choice] = [getField(providerData, 'choices')].flat();
  const reason =
    getField(providerData, 'finishReason') ??
    getField(getField(providerData, 'incomplete_details'), 'reason') ??
    getField(choice, 'finish_reason');
  return (typeof reason === 'string' ? CUT_REASONS[reason] : undefined) ?? 'stop';
}

/** The finish reason in a raw provider event, if it has one: the SDK drops that of streamed Chat Completions. */
export function finishReasonOfEvent(event: StreamEvent): FinishReason | undefined {
  if (event.type !== 'model') return undefined;
  const [choice] = [getField(event.event, 'choices')].flat();
  return typeof getField(choice, 'finish_reason') === 'string'
    ? finishReasonOf({ providerData: { choices: [choice] } })
    : undefined;
}

/** A copy of a response that stores its finish reason. */
export function withFinishReason<Response extends WithProviderData>(
  response: Response,
  finishReason: FinishReason,
): Response {
  return { ...response, providerData: { ...response.providerData, finishReason } };
}

import type { StreamEvent } from '@openai/agents-core';
import type { FinishReason } from '../../domain/agent-response.ts';
import { fieldOf } from '../../faults/network-fault.ts';

/** What services call it when they cut an answer, in Chat Completions and in the Responses API. */
const REASONS: Readonly<Record<string, FinishReason>> = {
  length: 'length',
  max_tokens: 'length',
  max_output_tokens: 'length',
  content_filter: 'content_filter',
};

interface Answered {
  providerData?: Record<string, unknown> | undefined;
}

/** Why an answer ended: read off what its provider sent along, or as `withFinishReason` noted it there. */
export function finishReasonOf({ providerData }: Answered): FinishReason {
  const [choice] = [fieldOf(providerData, 'choices')].flat();
  const said =
    fieldOf(providerData, 'finishReason') ??
    fieldOf(fieldOf(providerData, 'incomplete_details'), 'reason') ??
    fieldOf(choice, 'finish_reason');
  return (typeof said === 'string' ? REASONS[said] : undefined) ?? 'stop';
}

/**
 * The reason that an event of the provider's own gives; undefined if it gives none. The SDK keeps the one of Chat
 * Completions to itself when it streams.
 */
export function finishReasonIn(event: StreamEvent): FinishReason | undefined {
  if (event.type !== 'model') return undefined;
  const [choice] = [fieldOf(event.event, 'choices')].flat();
  return typeof fieldOf(choice, 'finish_reason') === 'string'
    ? finishReasonOf({ providerData: { choices: [choice] } })
    : undefined;
}

/** A response that tells its reason. */
export function withFinishReason<Response extends Answered>(
  response: Response,
  finishReason: FinishReason,
): Response {
  return { ...response, providerData: { ...response.providerData, finishReason } };
}

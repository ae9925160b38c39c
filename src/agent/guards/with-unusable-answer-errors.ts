import type { Model, ModelResponse, StreamEvent } from '@openai/agents-core';
import type { FinishReason } from '../../domain/agent-response.ts';
import { advice, settingName } from '../../faults/advice.ts';
import { AppError } from '../../faults/app-error.ts';
import { getField } from '../../faults/network-errors.ts';
import { contentFilterError, outOfTokensError } from '../../faults/service-errors.ts';
import { oneLine } from '../../text/visible-text.ts';
import {
  finishReasonOf,
  finishReasonOfEvent,
  type StreamedResponse,
  withFinishReason,
} from '../model-response.ts';

/** A model that throws for an empty or endless answer, a refusal, and reasoning that left no tokens; stores finish reasons. */
export function withUnusableAnswerErrors(model: Model, maxCharacters = Number.POSITIVE_INFINITY): Model {
  return {
    async getResponse(request) {
      const response = await model.getResponse(request);
      checkOutput(response, finishReasonOf(response));
      return response;
    },
    async *getStreamedResponse(request) {
      let reason: FinishReason | undefined;
      let hasReasoned = false;
      let length = 0;
      try {
        for await (const event of model.getStreamedResponse(request)) {
          reason = finishReasonOfEvent(event) ?? reason;
          hasReasoned ||= showsReasoning(event);
          if (event.type === 'output_text_delta') {
            length += event.delta.length;
            if (length > maxCharacters) throw endlessAnswerError(maxCharacters);
          }
          if (event.type !== 'response_done') {
            yield event;
            continue;
          }
          reason ??= finishReasonOf(event.response);
          checkOutput(event.response, reason);
          yield { ...event, response: withFinishReason(event.response, reason) };
        }
      } catch (error) {
        // The SDK's error for an answer without text does not mention reasoning.
        if (reason === 'length' && length === 0 && !(error instanceof AppError))
          throw outOfTokensError(hasReasoned);
        throw error;
      }
    },
  };
}

function checkOutput({ output, usage }: ModelResponse | StreamedResponse, reason: FinishReason): void {
  const content = output.flatMap((item) =>
    item.type === 'message' && item.role === 'assistant' ? item.content : [],
  );
  const hasText = content.some((part) => part.type === 'output_text' && part.text.trim() !== '');
  if (hasText || output.some(({ type }) => type !== 'message' && type !== 'reasoning')) return;
  const refusal = content.find((part) => part.type === 'refusal');
  if (refusal !== undefined) {
    const words = oneLine(refusal.refusal, 300).replace(/\.?$/, '.');
    throw new AppError('api_error', `The model declined to answer: ${words}`, {
      hint: 'Rephrase the question.',
    });
  }
  if (reason === 'length') {
    throw outOfTokensError(
      output.some(({ type }) => type === 'reasoning') || hasReasoningTokens(usage, 'outputTokensDetails'),
    );
  }
  if (reason === 'content_filter') throw contentFilterError();
  throw new AppError('api_error', 'The model sent an empty answer.', {
    recoverable: true,
    hint: 'Ask again, or use another model.',
  });
}

/** Whether a Chat Completions event has reasoning, or counts tokens of it. */
function showsReasoning(event: StreamEvent): boolean {
  if (event.type !== 'model') return false;
  const [choice] = [getField(event.event, 'choices')].flat();
  const reasoning = getField(getField(choice, 'delta'), 'reasoning');
  return (
    Boolean(reasoning) || hasReasoningTokens(getField(event.event, 'usage'), 'completion_tokens_details')
  );
}

function hasReasoningTokens(usage: unknown, details: string): boolean {
  return [getField(usage, details)].flat().some((part) => Number(getField(part, 'reasoning_tokens')) > 0);
}

function endlessAnswerError(maxCharacters: number): AppError {
  return new AppError('api_error', `The answer was stopped after ${maxCharacters} characters.`, {
    hint: advice`Ask a narrower question, or raise ${settingName('maxAnswerCharacters')}.`,
  });
}

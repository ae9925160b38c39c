import type { Model, ModelRequest, ModelResponse, StreamEvent } from '@openai/agents-core';
import type { FinishReason, TokensUsed } from '../domain/agent-response.ts';
import { estimateTokens } from '../text/estimate-tokens.ts';
import { finishReasonOf } from './guards/finish-reason.ts';
import { asJson } from './tools/tool-arguments.ts';

type StreamedResponse = Extract<StreamEvent, { type: 'response_done' }>['response'];
type Output = StreamedResponse['output'] | ModelResponse['output'];

/** Who hears of the steps of a turn. */
export interface StepWatch {
  beginStep(): void;
  endStep(tokens: TokensUsed, finishReason: FinishReason): void;
}

/** A model each of whose streamed answers is a step of the turn, with calls that the SDK's loop passes on to their tools. */
export function watchSteps(model: Model, watch: StepWatch): Model {
  return {
    getResponse: (request) => model.getResponse(request),
    async *getStreamedResponse(request) {
      watch.beginStep();
      for await (const event of model.getStreamedResponse(request)) {
        if (event.type !== 'response_done') {
          yield event;
          continue;
        }
        watch.endStep(tokensOf(request, event.response), finishReasonOf(event.response));
        yield { ...event, response: { ...event.response, output: event.response.output.map(passable) } };
      }
    },
  };
}

function passable(item: StreamedResponse['output'][number]): StreamedResponse['output'][number] {
  return item.type === 'function_call' ? { ...item, arguments: asJson(item.arguments) } : item;
}

/** The tokens of an answer as its service counts them; estimated, and marked so, where it does not. */
export function tokensOf(
  request: ModelRequest,
  { usage, output }: { usage: { inputTokens: number; outputTokens: number }; output: Output },
): TokensUsed {
  const prompt = usage.inputTokens || estimatedPrompt(request);
  const completion = usage.outputTokens || estimateTokens(writtenIn(output));
  const isEstimated = usage.inputTokens === 0 || usage.outputTokens === 0;
  return { prompt, completion, total: prompt + completion, ...(isEstimated && { estimated: true }) };
}

function estimatedPrompt({ systemInstructions = '', input, tools }: ModelRequest): number {
  return estimateTokens(systemInstructions + JSON.stringify(input) + JSON.stringify(tools));
}

function writtenIn(output: Output): string {
  const calls = output.map((item) => (item.type === 'function_call' ? item.name + item.arguments : ''));
  return textOf(output) + calls.join('');
}

/** What the model says in its answer. */
export function textOf(output: Output): string {
  return output
    .flatMap((item) => (item.type === 'message' && item.role === 'assistant' ? item.content : []))
    .map((part) => (part.type === 'output_text' ? part.text : ''))
    .join('');
}
